"""Whether texts have room: labels and titles wider than their panel are broken into lines, crowded ticks thinned."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

APART = 6.0  # pixels between the texts of neighbours
JOINTS = re.compile(r"(?<=[ +])|(?=[@(])")  # where a label may be broken; an arm's name also before its settings


def broken(text: str, most: int) -> str:
    """The text in lines of at most `most` letters, as far as its joints allow; lines that it has are kept."""
    return "\n".join(_lines(line, most) for line in text.split("\n"))


def _lines(text: str, most: int) -> str:
    lines = [""]
    for piece in JOINTS.split(text):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.strip() for line in lines)


def fit(figure: Drawing) -> None:
    """Breaks what does not fit. A constrained layout makes room for the height of labels and titles, never for their
    width, so that a long one runs under its neighbour or off the canvas. Call after a first layout, and lay out again.
    """
    panels = [panel for panel in figure.axes if panel.get_visible()]
    boxes = {panel: panel.get_tightbbox(for_layout_only=True) for panel in panels}
    for panel, box in boxes.items():
        if box is None:
            continue
        _thin_ticks(panel)
        inside = panel.get_window_extent()
        others = [other for rival, other in boxes.items() if rival is not panel and other and _beside(other, box)]
        left = max([other.x1 for other in others if other.x1 <= inside.x0 + 1], default=0.0) + APART
        right = min([other.x0 for other in others if other.x0 >= inside.x1 - 1], default=figure.bbox.x1) - APART
        middle = (inside.x0 + inside.x1) / 2
        _narrow(panel.xaxis.label, 2 * min(middle - left, right - middle))
        for title in _titles(panel):
            _narrow(title, right - inside.x0)
        _narrow(panel.yaxis.label, inside.height + 2 * APART)
    for label in (figure._supxlabel, figure._supylabel):  # type: ignore[attr-defined]  # no public way to the artists
        if label is not None:
            _narrow(label, (figure.bbox.width if label.get_rotation() == 0 else figure.bbox.height) - APART)


def _thin_ticks(panel: Axes) -> None:
    """Fewer numbers below the panel, until none touches the next."""
    from matplotlib.ticker import MaxNLocator

    locator = panel.xaxis.get_major_locator()
    if isinstance(locator, MaxNLocator):
        for bins in (3, 2, 1):
            labels = [label for label in panel.get_xticklabels() if label.get_visible() and label.get_text()]
            boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.x0)
            if all(left.x1 + APART / 2 <= right.x0 for left, right in pairwise(boxes)):
                return
            locator.set_params(nbins=bins)


def _titles(panel: Axes) -> list[Text]:
    return [panel.title, panel._left_title, panel._right_title]  # type: ignore[attr-defined]  # by their `loc`


def _beside(one: Bbox, other: Bbox) -> bool:
    return bool(one.y0 < other.y1 and other.y0 < one.y1)


def _narrow(text: Text, room: float) -> None:
    said = text.get_text()
    if not said:
        return
    box = text.get_window_extent()
    along = box.width if text.get_rotation() % 180 == 0 else box.height
    if along > room > 0:
        longest = max(map(len, said.split("\n")))
        text.set_text(broken(said, int(longest * room / along)))
