"""The page in a real browser: offline, silent, readable on a desk and on a phone, in light, in dark and on paper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from dnagoat.reporting.document import Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
Scheme = Literal["light", "dark"]
SIZES = {"desk": (1280, 900), "phone": (390, 844)}

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium browser is installed; apt-get install chromium")


class Visit:
    """The page as it was opened, with every request that it made and every word that it said on the console."""

    def __init__(self, browser: Browser, page: Path, size: str, scheme: Scheme = "light") -> None:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, java_script_enabled=True
        )
        self.view = context.new_page()
        self.requests: list[str] = []
        self.said: list[str] = []
        self.view.on("request", lambda request: self.requests.append(request.url))
        self.view.on("console", lambda message: self.said.append(message.text))
        self.view.on("pageerror", lambda error: self.said.append(str(error)))
        self.view.goto(page.as_uri())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER, headless=True, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=list(SIZES))
def visit(request: pytest.FixtureRequest, browser: Browser, page: Path) -> Visit:
    return Visit(browser, page, request.param)


def test_it_opens_offline_without_a_request_or_a_complaint(visit: Visit, page: Path) -> None:
    assert [url for url in visit.requests if not url.startswith("data:")] == [page.as_uri()]
    assert visit.said == []


def test_headings_and_figures_are_seen(visit: Visit) -> None:
    headings = [text.strip() for text in visit.view.locator("h1, h2").all_inner_texts()]
    # CSS may set a heading in capitals, which is what the browser then reads.
    assert [heading.lower() for heading in headings][:3] == ["rope and goat on dna", "verdict", "results"]
    figures = visit.view.locator("figure svg")
    assert figures.count() == 15
    for index in range(figures.count()):
        box = figures.nth(index).bounding_box()
        assert box is not None and box["width"] > 300 and box["height"] > 60


def test_the_page_itself_never_scrolls_sideways(visit: Visit) -> None:
    assert visit.view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_verdict_is_on_the_first_screen(visit: Visit) -> None:
    box = visit.view.locator(".sentence").bounding_box()
    size = visit.view.viewport_size
    assert box is not None and size is not None and box["y"] + box["height"] < size["height"]


def test_a_keyboard_reaches_what_has_to_be_scrolled(visit: Visit) -> None:
    visit.view.keyboard.press("Tab")
    assert visit.view.evaluate("document.activeElement.className") == "skip"
    wide = visit.view.evaluate("[...document.querySelectorAll('.scroll')].every(part => part.tabIndex === 0)")
    assert wide


def test_dark_turns_page_and_figures(browser: Browser, page: Path) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        view = Visit(browser, page, "desk", scheme).view
        ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = view.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
        colours[scheme] = (ground, ink)
    assert colours["light"] == ("rgb(255, 255, 255)", "rgb(27, 31, 36)")
    assert colours["dark"] == ("rgb(20, 23, 27)", "rgb(232, 234, 237)")


def test_paper_is_white_and_has_no_navigation(browser: Browser, page: Path) -> None:
    view = Visit(browser, page, "desk", "dark").view
    view.emulate_media(media="print", color_scheme="dark")
    assert view.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not view.locator("nav").is_visible()
    assert view.pdf(format="A4").startswith(b"%PDF")


PRINTED = 190 * 96 / 25.4  # CSS pixels of A4 within margins of 1 cm


def test_no_table_is_wider_than_paper(browser: Browser, crowded: Report, tmp_path: Path) -> None:
    page = crowded.write(tmp_path / "crowded")
    context = browser.new_context(viewport={"width": int(PRINTED), "height": 1000}, offline=True)
    view = context.new_page()
    view.goto(page.as_uri())
    view.emulate_media(media="print")
    # scrollWidth of a region is the width of what is in it, seen or not
    wide = view.evaluate(
        "[...document.querySelectorAll('.scroll, pre, main')].filter(part => part.scrollWidth > part.clientWidth + 1)"
        ".map(part => part.getAttribute('aria-label') + ' ' + part.scrollWidth)"
    )
    assert view.locator("table").count() > 8 and wide == []
    larger = view.evaluate(
        "[...document.querySelectorAll('.under, .unit')].filter(part => parseFloat(getComputedStyle(part).fontSize)"
        " > parseFloat(getComputedStyle(part.parentElement).fontSize)).length"
    )
    assert larger == 0, "an interval is never set larger than its number"
    context.close()


def test_it_works_without_scripts(browser: Browser, page: Path) -> None:
    view = browser.new_context(java_script_enabled=False, offline=True).new_page()
    view.goto(page.as_uri())
    assert view.locator("figure svg").count() == 15 and view.locator("table").count() > 4
