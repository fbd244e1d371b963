"""What a figure is: a drawing with a title, an alternative text, and a caption that says how to read it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from dnagoat.errors import OptionError
from dnagoat.files import write_text, written_whole
from dnagoat.reporting.drawing.marks import mark, with_words
from dnagoat.reporting.drawing.room import broken, fit
from dnagoat.reporting.style import Look, drawing, every_ink

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from numpy.typing import NDArray

WIDTH = 7.2  # inches; 691 CSS pixels, so that 9.5 points are read at their size
LONGEST = 24  # letters of a row's name before it is broken
BANDS = 3  # models whose bands are drawn over each other; more are a blur
CURVE = 200  # points of a curve, and ...
CLOUD = 300  # ... of a scatter: more cannot be told apart at this width, and would only weigh


@dataclass(frozen=True)
class Figure:
    """`reading` says in a sentence how to read it, `limits` what else to know and what it cannot show, `alt` what a
    reader who cannot see it must know, `warnings` what stands in the way of comparing its models."""

    name: str
    title: str
    reading: str
    limits: str
    alt: str
    drawing: Drawing
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # The layout is found once and stays: found again it may move by a hair, and no two files would be the same.
        with drawing():
            self.drawing.draw_without_rendering()
            fit(self.drawing)
            self.drawing.draw_without_rendering()
        self.drawing.set_layout_engine("none")

    def save(self, folder: Path) -> list[Path]:
        """Writes NAME.svg, NAME.pdf and NAME.png (200 dots an inch) on white; returns their paths."""
        paths = [folder / f"{self.name}.{kind}" for kind in _UNDATED]
        for path in paths:
            self.write(path)
        return paths

    def write(self, path: Path) -> None:
        """One file, whose name says its kind."""
        kind = kind_of(path, "the figure")
        if kind == "svg":
            write_text(path, with_words(self._svg(facecolor="white"), {}))
            return
        with drawing(), written_whole(path) as aside:
            self.drawing.savefig(aside, format=kind, metadata=_UNDATED[kind], facecolor="white")

    def inline(self, classes: Mapping[str, str] = MappingProxyType({})) -> str:
        """The drawing as SVG to stand in a page: theme colours as CSS variables, ids its own, no size of its own, and
        on what is an arm's the class that is given for it."""
        return _for_page(with_words(self._svg(transparent=True), classes), self.name)

    def _svg(self, **how: Any) -> str:
        buffer = io.StringIO()
        with drawing():
            self.drawing.savefig(buffer, format="svg", metadata=_UNDATED["svg"], **how)
        return buffer.getvalue()


_UNDATED: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def kind_of(path: Path, option: str) -> str:
    """svg, pdf or png, as the name of a file ends; an `OptionError` where it ends otherwise."""
    kind = path.suffix.removeprefix(".")
    if kind not in _UNDATED:
        raise OptionError(f"{option} {path}: give a name that ends in .svg, .pdf or .png")
    return kind


def _for_page(svg: str, name: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\n\s*", "\n", svg)
    svg = re.sub(r'(?<= )(d|x|y)="[^"]*"', lambda found: _NUMBER.sub(_tenths, found[0]), svg)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = _MARKERS.sub(_one_style, svg)
    for place, own in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]*)"', svg))):
        short = f"{crc32(name.encode()):x}-{place}"  # of this figure alone among all of a page
        svg = re.sub(rf'(\bid="|href="#|url\(#){re.escape(own)}(?=["\)])', rf"\g<1>{short}", svg)
    svg = svg.replace("font: 9.5px 'DejaVu Sans'", "font: 9.5px var(--sans)").replace("'DejaVu Sans'", "var(--sans)")
    for index, ink in enumerate(every_ink()):
        svg = re.sub(re.escape(ink.light), f"var(--ink-{index})", svg, flags=re.IGNORECASE)
    head, rest = svg.split(">", 1)
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)[0]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-labelledby="{name}-alt" viewBox="0 0 {width} {height}">{rest}'
    )


_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_MARKERS = re.compile(
    r'<g( clip-path="[^"]*")?>\s*((?:<use [^>]*? style="([^"]*)"(?:/>|><title>[^<]*</title></use>)\s*)+)</g>'
)


def _tenths(found: re.Match[str]) -> str:
    """Matplotlib writes millionths of a point; tenths look the same and weigh half."""
    return f"{float(found[0]):.1f}".removesuffix(".0")


def _one_style(found: re.Match[str]) -> str:
    """The style of markers that all have one is said once, of their group."""
    clip, markers, style = found.groups()
    plain = markers.replace(f' style="{style}"', "")
    return found[0] if " style=" in plain else f'<g{clip or ""} style="{style}">{plain}</g>'


def thinned(count: int, most: int) -> NDArray[np.intp]:
    """Which of `count` points to draw where at most `most` are wanted: evenly, with both ends."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def canvas(
    rows: int = 1, columns: int = 1, *, height: float = 3.2, share_x: bool = False, share_y: bool = False
) -> tuple[Drawing, Sequence[Axes]]:
    """An empty drawing of the common width (`height` in inches) and its axes, row by row. Call inside `drawing()`."""
    figure = _blank(height)
    axes = figure.subplots(rows, columns, sharex=share_x, sharey=share_y, squeeze=False)
    return figure, list(axes.flat)


def _blank(height: float) -> Drawing:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # Inches between panels: end ticks of neighbours stay apart.
    figure = Drawing(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=0.08))
    FigureCanvasAgg(figure)
    return figure


def panels_of(
    count: int, columns: int, *, height: float, share_x: bool = False, share_y: bool = False
) -> tuple[Drawing, list[Axes]]:
    """A drawing of `count` panels, row by row; those of a last row that is not full share its whole width, so that no
    panel stays empty. Call inside `drawing()`.
    """
    columns = min(columns, count)
    figure = _blank(height)
    rows, last = -(-count // columns), (count - 1) % columns + 1
    grid = figure.add_gridspec(rows, columns * last)
    panels: list[Axes] = []
    for place in range(count):
        row, column = divmod(place, columns)
        wide = last if row < rows - 1 else columns
        first = panels[0] if panels else None
        here = grid[row, column * wide : (column + 1) * wide]
        panel = figure.add_subplot(here, sharex=first if share_x else None, sharey=first if share_y else None)
        panel.tick_params(labelbottom=not share_x or row == rows - 1 or place >= count - columns)
        panel.tick_params(labelleft=not share_y or column == 0)
        panels.append(panel)
    return figure, panels


def name_rows(panel: Axes, rows: Sequence[tuple[str, str | None]]) -> None:
    """Names beside the rows of dots, from above; a row that is an arm's goes with it."""
    panel.set_yticks(range(len(rows)), [broken(name, LONGEST) for name, _ in rows])
    panel.set_ylim(len(rows) - 0.5, -0.6)
    panel.grid(axis="y", visible=False)
    panel.tick_params(axis="y", length=0)
    for text, (_, arm) in zip(panel.get_yticklabels(), rows, strict=False):  # none beside a panel that shares them
        mark(text, arm)


def legend_above(figure: Drawing, handles: Sequence[Artist], names: Sequence[str], most: int) -> None:
    """One legend for all panels, in at most `most` columns and in as many as the longest name leaves room for."""
    inches = 0.5 + 0.075 * max(map(len, names), default=1)  # a letter of 9 points, and the line or marker before it
    made = figure.legend(handles, names, loc="outside upper center", ncols=max(1, min(most, int(WIDTH / inches))))
    for handle, text, name in zip(made.legend_handles, made.get_texts(), names, strict=True):
        for part in filter(None, (handle, text)):
            mark(part, name)


def draw_cloud(panel: Axes, xs: NDArray[Any], ys: NDArray[Any], look: Look, arm: str) -> None:
    """Points so pale that where many lie is seen."""
    (points,) = panel.plot(
        xs, ys, marker=look.marker, linestyle="", markersize=3, color=look.colour, alpha=0.4, markeredgewidth=0
    )
    mark(points, arm, arm)
