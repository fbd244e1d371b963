"""How the heads of a model are drawn: how the weight of each one's prior spreads over distances, and the sink u(j)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dnagoat.reporting.drawing.figure import Figure, canvas, panels_of
from dnagoat.reporting.drawing.marks import mark
from dnagoat.reporting.style import MUTED, drawing
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Periods with a meaning in DNA: one codon, one turn of the helix, one alpha satellite repeat.
MARKED = (3.0, 10.5, 171.0)

LEAST_SINK = 0.05  # nats; the scale of the sink is never finer, since less than this changes no attention
SAME = 0.004  # of the height of a curve: a distance that nobody sees
ROW, TALLEST = 0.16, 4.5  # inches of a head, and of all of them at most
PER_OCTAVE = 6  # fields of the prior beyond 8 bases
LEVELS = (0.02, 0.06, 0.15, 0.3, 0.5)  # shares of the weight from which a field is drawn darker
PALE = 0.35  # opacity of checkpoints between the start and the last


@dataclass(frozen=True)
class Head:
    """One head's curves, the newest last; where there are several, the first is where training started."""

    layer: int
    head: int
    slope: float | None
    log_priors: list[Sequence[float]]
    sinks: list[Sequence[float]]


def draw_priors(name: str, title: str, distances: Sequence[float], heads: Sequence[Head], colour: str) -> Figure:
    """A row a head, a panel a checkpoint: how the weight of the prior is spread over distances."""
    bins = edges(distances)
    told = len(heads[0].log_priors)
    with drawing():
        figure, panels = canvas(
            1, told, height=1.0 + min(max(1.2, ROW * len(heads)), TALLEST), share_x=True, share_y=True
        )
        for place, panel in enumerate(panels):
            shares = [weights(distances, head.log_priors[place], bins) for head in heads]
            _draw_shares(panel, shares, bins, colour)
            _name_heads(panel, heads, distances, place)
            panel.set_title(_when(place, told))
        panels[0].set_ylim(len(heads) - 0.5, -0.5)
        figure.supxlabel("distance to the key (bases)", fontsize=9.5)
    return Figure(
        name,
        title,
        reading="A row is a head, and the darker a distance, the more of the head's attention goes there when the "
        "content says nothing.",
        limits="Marked are 3 (codon), 10.5 (turn of the helix) and 171 bases (alpha satellite). The prior prefers; "
        "content can override it, so that a dark field is no gain, and a seeded period that stayed where it began is "
        f"not a discovery. A field is one of {len(bins) - 1}, even on a logarithmic axis, in five steps up to a half "
        "of the weight and more.",
        alt=f"Heat map of {counted(len(heads), 'head')} by distance. At last half of a head's weight lies within "
        f"{_reaches(distances, heads)} bases. {_summary(heads)}",
        drawing=figure,
    )


def edges(distances: Sequence[float]) -> Floats:
    """Edges of distances, whole ones up to 8 and even on a logarithmic axis beyond."""
    last = float(max(distances)) + 1
    far = np.geomspace(8, last, max(2, 1 + round(PER_OCTAVE * np.log2(last / 8)))) if last > 8 else np.array([last])
    return np.concatenate([np.arange(min(8.0, last)), far])


def weights(distances: Sequence[float], log_prior: Sequence[float], bins: Floats) -> Floats:
    """How much of the weight lies in each field, in all 1; a distance stands for those up to the next that is known."""
    found, _ = np.histogram(distances, bins, weights=_weight(distances, log_prior))
    return np.asarray(found / found.sum())


def _weight(distances: Sequence[float], log_prior: Sequence[float]) -> Floats:
    """What each distance has, and those that it stands for: up to a factor."""
    weight = np.exp(np.asarray(log_prior, float) - max(log_prior))
    return np.asarray(weight * np.diff(distances, append=distances[-1] + 1))


def _draw_shares(panel: Axes, shares: Sequence[Floats], bins: Floats, colour: str) -> None:
    """Fields of one darkness are one path: a field of its own for each would weigh more than it shows."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    level = np.digitize(np.stack(shares), LEVELS)
    for step in range(1, len(LEVELS) + 1):
        corners = [corner for row, of_head in enumerate(level == step) for corner in _corners(of_head, bins, row)]
        if corners:
            codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * (len(corners) // 5)
            path = Path(np.array(corners), codes)
            panel.add_patch(PathPatch(path, facecolor=colour, alpha=step / len(LEVELS), linewidth=0))
    panel.set_xscale("symlog", linthresh=2)
    panel.set_xlim(0, bins[-1])
    far = [tick for tick in (1000, 5000, 20000) if tick < bins[-1]]
    ticks = [0, *(period for period in MARKED if period < bins[-1]), *far]
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    panel.minorticks_off()
    panel.grid(axis="y", visible=False)


def _corners(held: NDArray[np.bool_], bins: Floats, row: int) -> Iterator[tuple[float, float]]:
    """Around each run of fields that are held."""
    turns = np.flatnonzero(np.diff(held, prepend=False, append=False))
    low, high = row - 0.42, row + 0.42
    for left, right in bins[turns].reshape(-1, 2).tolist():
        yield from ((left, low), (right, low), (right, high), (left, high), (left, low))


def _name_heads(panel: Axes, heads: Sequence[Head], distances: Sequence[float], place: int) -> None:
    """Layers beside their rows; who points at a row is told its head and how far it looks."""
    firsts = [row for row, head in enumerate(heads) if head.head == 0]
    panel.set_yticks(firsts, [f"layer {heads[row].layer + 1}" for row in firsts], fontsize=8, va="center")
    panel.tick_params(axis="y", length=0)
    for row, head in enumerate(heads):
        said = f"layer {head.layer + 1}, head {head.head + 1}: half of its weight within "
        said += f"{_reach(distances, head.log_priors[place]):g} bases"
        if head.slope is not None:
            said += f", slope {head.slope:.3g}"
        mark(panel.axhspan(row - 0.5, row + 0.5, alpha=0, linewidth=0), None, said)


def _when(place: int, told: int) -> str:
    if told == 1:
        return "learned"
    return "at the start" if place == 0 else "learned" if place == told - 1 else "on the way"


def _reach(distances: Sequence[float], log_prior: Sequence[float]) -> float:
    """The distance within which half of the weight lies."""
    weight = _weight(distances, log_prior)
    return float(distances[int(np.searchsorted(np.cumsum(weight), weight.sum() / 2))])


def _reaches(distances: Sequence[float], heads: Sequence[Head]) -> str:
    found = [_reach(distances, head.log_priors[-1]) for head in heads]
    return f"{min(found):g} to {max(found):g}"


def _lines(panel: Axes, places: Sequence[float], curves: Sequence[Sequence[float]], colour: str) -> None:
    """The newest curve in colour, over the start in grey dashes and what came between them, paler."""
    *before, newest = curves
    for place, curve in enumerate(before):
        start = place == 0
        panel.plot(
            *_seen(places, curve),
            color=MUTED.light if start else colour,
            linestyle="--" if start else "-",
            linewidth=1,
            alpha=1 if start else PALE,
        )
    panel.plot(*_seen(places, newest), color=colour, linewidth=1.4)


def _seen(places: Sequence[float], curve: Sequence[float]) -> tuple[Floats, Floats]:
    """The points from which a curve can be drawn so that nobody sees the difference (Douglas and Peucker, 1973, on the
    axis of the panel): every further one only makes the page heavier."""
    x, y = np.log1p(np.asarray(places, dtype=float)), np.asarray(curve, dtype=float)
    near = SAME * max(float(np.ptp(y)), LEAST_SINK)
    kept, open_ends = {0, len(x) - 1}, [(0, len(x) - 1)]
    while open_ends:
        first, last = open_ends.pop()
        inside = slice(first, last + 1)
        apart = np.abs(y[inside] - np.interp(x[inside], x[[first, last]], y[[first, last]]))
        farthest = first + int(apart.argmax())
        if apart.max() > near:
            kept.add(farthest)
            open_ends += [(first, farthest), (farthest, last)]
    order = sorted(kept)
    return np.expm1(x[order]), y[order]


def _along(curves: Sequence[object]) -> str:
    started = "; the grey dashes are where training started" if len(curves) > 1 else ""
    return started + (", pale lines earlier checkpoints" if len(curves) > 2 else "")


def _summary(heads: Sequence[Head]) -> str:
    slopes = [head.slope for head in heads if head.slope is not None]
    return f"Recency slopes run from {min(slopes):.3g} to {max(slopes):.3g} nats per base." if slopes else ""


def draw_sinks(name: str, title: str, positions: Sequence[float], heads: Sequence[Head], colour: str) -> Figure:
    """One panel a layer: u(j) of its heads against the key's position j."""
    layers = max(head.layer for head in heads) + 1
    with drawing():
        columns = min(layers, 4)
        rows = -(-layers // columns)
        figure, axes = panels_of(layers, columns, height=0.7 + 1.7 * rows, share_x=True, share_y=True)
        for head in heads:
            panel = axes[head.layer]
            _lines(panel, positions, head.sinks, colour)
            panel.set_title(f"layer {head.layer + 1}", fontsize=8.5, fontweight="normal")
            panel.set_xscale("symlog", linthresh=1)
            panel.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"], fontsize=8)
            panel.minorticks_off()
        figure.supxlabel("position of the key j (bases)", fontsize=9.5)
        axes[0].set_ylabel("sink u(j) (nats)")
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(min(low, -LEAST_SINK), max(high, LEAST_SINK))
    first = max(abs(head.sinks[-1][0] - head.sinks[-1][-1]) for head in heads)
    return Figure(
        name,
        title,
        reading="One line a head: a peak at j = 0 is a place where the head can put its attention when it has nothing "
        f"to say{_along(heads[0].sinks)}.",
        limits="Only differences along a line matter. A high u(0) says that the prior offers a sink, not that the head "
        "uses it; `dnagoat inspect` measures that.",
        alt=f"Line charts of the sink term against key position for {counted(layers, 'layer')}; the largest difference "
        f"between the first and the last position is {first:.2f} nats.",
        drawing=figure,
    )
