"""The page in a real browser: offline, silent, readable on a desk and on a phone, in light, in dark and on paper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from dnagoat.reporting.document import Report
from dnagoat.reporting.section import Question

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe to check what a browser shows")
AXE = axe.Axe()
SERIOUS = ("serious", "critical")
FIGURES = 17

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
Scheme = Literal["light", "dark"]
SIZES = {"desk": (1280, 800), "phone": (390, 844)}

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium browser is installed; apt-get install chromium")


class Visit:
    """The page as it was opened, with every request that it made and every word that it said on the console."""

    def __init__(
        self, browser: Browser, page: Path, size: str, scheme: Scheme = "light", *, scripts: bool = True
    ) -> None:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, java_script_enabled=scripts
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


@pytest.fixture(scope="module")
def crowd_page(browser: Browser, crowded: Report, tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """The page of four arms with long names."""
    page = tmp_path_factory.mktemp("crowd_page") / "report.html"
    page.write_text(crowded.html(), encoding="utf-8")
    return Visit(browser, page, "desk")


def test_it_opens_offline_without_a_request_or_a_complaint(visit: Visit, page: Path) -> None:
    assert [url for url in visit.requests if not url.startswith("data:")] == [page.as_uri()]
    assert visit.said == []


def test_headings_and_figures_are_seen(visit: Visit) -> None:
    headings = [text.strip() for text in visit.view.locator("h1, h2").all_inner_texts()]
    assert headings[0] == "rope and goat on DNA" and headings[1].startswith("goat beats rope by 0.0070 nats per base.")
    assert headings[-8:] == [str(question) for question in Question]
    figures = visit.view.locator("figure svg")
    assert figures.count() == FIGURES
    for index in range(figures.count()):
        box = figures.nth(index).bounding_box()
        assert box is not None and box["width"] > 300 and box["height"] > 60


@pytest.mark.parametrize("width", [360, 800, 1280, 1600])
def test_the_page_itself_never_scrolls_sideways(width: int, crowd_page: Visit) -> None:
    """Neither folded nor with everything open."""
    crowd_page.view.set_viewport_size({"width": width, "height": 800})
    for state in ("false", "true"):
        crowd_page.view.evaluate(f"document.querySelectorAll('details').forEach(part => part.open = {state})")
        assert crowd_page.view.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), state
    crowd_page.view.evaluate("document.querySelectorAll('details').forEach(part => part.open = false)")


def test_the_answer_is_on_the_first_screen(visit: Visit) -> None:
    """Verdict, figure and cards on a desk; the verdict on a phone."""
    size = visit.view.viewport_size
    assert size is not None
    for part in (".first h2", ".first svg", ".cards") if size["width"] > 1000 else (".first h2",):
        box = visit.view.locator(part).first.bounding_box()
        assert box is not None and box["y"] + box["height"] < size["height"], part


def test_it_is_short_with_everything_folded(crowd_page: Visit) -> None:
    """Four arms, two of them inspected; five are about a tenth longer."""
    crowd_page.view.set_viewport_size({"width": 1280, "height": 800})
    assert crowd_page.view.evaluate("document.documentElement.scrollHeight") < 10_500


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(scheme: Scheme, browser: Browser, page: Path) -> None:
    view = Visit(browser, page, "desk", scheme).view
    view.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    found = AXE.run(view).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found if each["impact"] in SERIOUS] == []


def test_an_arm_that_is_not_chosen_leaves_all_figures(browser: Browser, page: Path) -> None:
    """Without a script: what is not checked is hidden by the style sheet."""
    view = Visit(browser, page, "desk", scripts=False).view
    marks = view.locator("g.arm-1")
    assert marks.count() > 20 and marks.first.is_visible()
    view.get_by_role("checkbox", name="goat", exact=True).uncheck()
    assert not any(marks.nth(place).is_visible() for place in range(0, marks.count(), 10))
    assert view.locator("g.arm-0").first.is_visible()


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


def test_no_table_is_wider_than_paper(crowd_page: Visit) -> None:
    view = crowd_page.view
    view.set_viewport_size({"width": int(PRINTED), "height": 1000})
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
    view.emulate_media(media="screen")


def test_it_works_without_scripts(browser: Browser, page: Path) -> None:
    """A table opens where its name is pressed."""
    view = Visit(browser, page, "desk", scripts=False).view
    assert view.locator("figure svg").count() == FIGURES
    table = view.locator("#table-strata")
    assert not table.is_visible()
    view.locator("summary", has_text="NLL by stratum").click()
    assert table.is_visible()


def test_what_is_folded_is_printed(browser: Browser, page: Path) -> None:
    view = Visit(browser, page, "desk").view
    view.emulate_media(media="print")
    assert all(view.locator("table").nth(place).is_visible() for place in range(view.locator("table").count()))
