"""Marks that know what they show: whose they are, so that a page can hide an arm, and words for who points at them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from dnagoat.reporting.style import MUTED, Look

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Bounds = Sequence[float] | None

PREFIX = "mark:"  # of the ids under which a drawing keeps, until it is written, what its marks show
_GROUP = re.compile(r'<g id="mark:([^"]*)">')
_POINT = re.compile(r"<use [^>]*/>")


def mark(artist: Artist, arm: str | None = None, said: str = "", each: Sequence[str] = ()) -> None:
    """Says whose an artist is, and what it and each of its points show."""
    artist.set_gid(PREFIX + quote(json.dumps([arm, said, list(each)]), safe=""))


def shown_by(artist: Artist) -> tuple[str | None, str, list[str]]:
    """Whose an artist is, and the words of it and of its points; of an unmarked one, nobody's and none."""
    gid = artist.get_gid() or ""
    return _read(gid.removeprefix(PREFIX)) if gid.startswith(PREFIX) else (None, "", [])


def _read(written: str) -> tuple[str | None, str, list[str]]:
    arm, said, each = json.loads(unquote(written))
    return arm, said, each


def draw_estimate(
    panel: Axes, value: float, bounds: Bounds, place: float, look: Look | None, arm: str | None, said: str
) -> None:
    """A number with its interval as a dot on a line; without a look it is a yardstick's, in grey."""
    colour, marker = (look.colour, look.marker) if look else (MUTED.light, "o")
    if bounds:
        (line,) = panel.plot(bounds, [place, place], color=colour, linewidth=2, solid_capstyle="butt")
        mark(line, arm, said)
    (dot,) = panel.plot(value, place, marker=marker, color=colour, markersize=6 if look else 5, linestyle="")
    mark(dot, arm, said)


def draw_curve(
    panel: Axes, xs: Sequence[float], ys: Sequence[float], look: Look, arm: str, each: Sequence[str], **how: Any
) -> None:
    """A line with a marker a point, each of which says its own words."""
    style: dict[str, Any] = {"marker": look.marker, "markersize": 4, "linestyle": look.dash} | how
    (line,) = panel.plot(xs, ys, color=look.colour, label=arm, **style)
    mark(line, arm, arm, each)


def draw_band(panel: Axes, xs: Sequence[float], bounds: Sequence[Bounds], look: Look, arm: str) -> None:
    """A pale band between the bounds that are known."""
    known = [(x, *both) for x, both in zip(xs, bounds, strict=True) if both]
    if known:
        at, low, high = zip(*known, strict=True)
        mark(panel.fill_between(at, low, high, color=look.colour, alpha=0.13, linewidth=0), arm)


def with_words(svg: str, classes: Mapping[str, str]) -> str:
    """The drawing with a `<title>` in each mark that has words, and with a class on each that is an arm's."""
    return "".join(_worded(piece, classes) for piece in re.split(r'(?=<g id=")', svg))


def _worded(piece: str, classes: Mapping[str, str]) -> str:
    """A group, up to the next: its points follow its beginning."""
    found = _GROUP.match(piece)
    if found is None:
        return piece
    arm, said, each = _read(found[1])
    rest = piece[found.end() :]
    if each and len(_POINT.findall(rest)) == len(each):
        words = iter(each)
        rest = _POINT.sub(lambda point: f"{point[0][:-2]}>{_title(next(words))}</use>", rest)
        said = ""  # a point's own words, not the line's
    owner = f' class="{classes[arm]}"' if arm is not None and arm in classes else ""
    return f"<g{owner}>{_title(said) if said else ''}{rest}"


def _title(words: str) -> str:
    return f"<title>{html.escape(words, quote=False)}</title>"
