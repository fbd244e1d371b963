"""What a run's prior has learned before it sees any content: log-prior against distance per head, and the sink u(j)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.reporting.cells import number
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.section import Need, Section
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import GRID, MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Periods with a meaning in DNA: one codon, one turn of the helix, one alpha satellite repeat.
MARKED = {3.0: "3", 10.5: "10.5", 171.0: "171"}

LEAST_SINK = 0.05  # nats; the scale of the sink is never finer, since less than this changes no attention
ROOMY = 4  # panels beside each other that leave room for whole words
CRAMPED = 8  # more leave room for one tick
DOTS = 400  # across a row of panels, of about two points each where up to ROOMY stand beside each other
PALE = 0.35  # opacity of checkpoints between the start and the last
FLOOR = -6.0  # nats below the top, where panels end: a weight of 1/400 of the largest is as good as none


@dataclass(frozen=True)
class Head:
    """One head's curves, the newest last; where there are several, the first is where training started."""

    layer: int
    head: int
    slope: float | None
    log_priors: list[Sequence[float]]
    sinks: list[Sequence[float]]


def log_prior(results: Results, run: RunResults) -> Figure | None:
    """The learned log-prior of one run, and where its training started."""
    heads = _heads(run)
    if not heads:
        return None
    name, title = f"prior-{run.slug}", f"Where each head of {run.arm} looks before it reads: the learned log-prior"
    return priors(name, title, run.measures["prior"]["distances"], heads, looks(results.arms)[run.arm].colour)


def sink(results: Results, run: RunResults) -> Figure | None:
    """u(j) of every head of one run."""
    heads = _heads(run)
    if not any(head.sinks for head in heads):
        return None
    name, title = f"sink-{run.slug}", f"Which positions {run.arm} favours whoever asks: the sink u(j)"
    return sinks(name, title, run.measures["prior"]["positions"], heads, looks(results.arms)[run.arm].colour)


def _heads(run: RunResults) -> list[Head]:
    """Every head of a run whose prior is learned; empty for other schemes."""
    if not SCHEMES[run.config.model.position.name].learned:
        return []
    return [
        Head(
            layer["layer"],
            head["head"],
            head.get("slope"),
            [curve for curve in (head.get("initial"), head["log_prior"]) if curve],
            [head["sink"]] if head.get("sink") else [],
        )
        for layer in run.measures.get("prior", {}).get("layers", [])
        for head in layer["heads"]
    ]


def priors(name: str, title: str, distances: Sequence[float], heads: Sequence[Head], colour: str) -> Figure:
    """One panel a head (a layer a row): the log-prior against distance on a logarithmic axis."""
    layers = max(head.layer for head in heads) + 1
    columns = max(head.head for head in heads) + 1
    named = ", named by layer and head" if columns > ROOMY else ""
    with drawing():
        figure, axes = canvas(layers, columns, height=0.7 + 1.3 * layers, share_x=True, share_y=True)
        for head in heads:
            _draw(axes[head.layer * columns + head.head], distances, head, colour, columns)
        figure.supxlabel("distance to the key (bases)", fontsize=9.5)
        lowest = min(min(_from_top(curve)) for head in heads for curve in head.log_priors)
        axes[0].set_ylim(max(lowest, FLOOR) * 1.08 - 0.1, 0.35)
        figure.supylabel("log-prior (nats, largest = 0)", fontsize=9.5)
    return Figure(
        name,
        title,
        "Prior",
        reading=f"Each panel is one head{named}. A higher curve at a distance means that keys so far back get more "
        f"attention when the content says nothing{_along(heads[0].log_priors)}. Upright lines mark 3 (codon), "
        f"10.5 (helix turn) and 171 (alpha satellite) bases. Panels end at {FLOOR:g} nats, 1/400 of the largest "
        "weight.",
        limits="A bump shows what the prior prefers, not that the model gains from it: content scores can override any "
        "prior, and a seeded period that stayed where it began is not a discovery.",
        alt=f"{counted(len(heads), 'small line chart')}, {counted(layers, 'layer')} by {counted(columns, 'head')}, of "
        "log-prior against distance. " + _summary(heads),
        drawing=figure,
    )


def _draw(panel: Axes, distances: Sequence[float], head: Head, colour: str, columns: int) -> None:
    for period in MARKED:
        panel.axvline(period, color=GRID.light, linewidth=1.2, zorder=0)
    _lines(panel, distances, [_from_top(curve) for curve in head.log_priors], colour, DOTS // max(columns, ROOMY))
    panel.set_xscale("symlog", linthresh=2)
    panel.grid(visible=False)
    narrow = columns > ROOMY
    place = f"L{head.layer + 1} H{head.head + 1}" if narrow else f"layer {head.layer + 1}, head {head.head + 1}"
    title = place if narrow or head.slope is None else f"{place}, slope {head.slope:.3g}"
    panel.set_title(title, fontsize=8.5, fontweight="normal")
    far = [tick for tick in (1000, 5000, 20000) if tick <= max(distances)]
    few = [max(MARKED)] if columns > CRAMPED else [min(MARKED), max(MARKED)]
    ticks = few if narrow else [0, *MARKED, *far]
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8)
    panel.minorticks_off()


def _lines(panel: Axes, places: Sequence[float], curves: Sequence[Sequence[float]], colour: str, dots: int) -> None:
    """The newest curve in colour, over the start in grey dashes and what came between them, paler."""
    *before, newest = curves
    for place, curve in enumerate(before):
        start = place == 0
        panel.plot(
            *_seen(places, curve, dots),
            color=MUTED.light if start else colour,
            linestyle="--" if start else "-",
            linewidth=1,
            alpha=1 if start else PALE,
        )
    panel.plot(*_seen(places, newest, dots), color=colour, linewidth=1.4)


def _seen(places: Sequence[float], curve: Sequence[float], dots: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The points that a panel can show: of those on one of its dots, which are even in log(1 + place), the lowest and
    the highest, so that no peak is lost. Every further one only makes the page heavier."""
    x, y = np.asarray(places, dtype=float), np.asarray(curve, dtype=float)
    dot = np.floor(dots * np.log1p(x) / np.log1p(x[-1]))
    upwards = np.lexsort((y, dot))  # dot by dot, each from its lowest to its highest
    lowest = np.flatnonzero(np.diff(dot[upwards], prepend=-1))
    highest = np.append(lowest[1:], len(x)) - 1
    kept = np.unique(upwards[np.concatenate([lowest, highest])])
    return x[kept], y[kept]


def _along(curves: Sequence[object]) -> str:
    started = "; the grey dashes are where training started" if len(curves) > 1 else ""
    return started + (", pale lines earlier checkpoints" if len(curves) > 2 else "")


def _from_top(values: Sequence[float]) -> list[float]:
    # A row constant means nothing to a softmax; the largest value at 0 lets heads be compared.
    top = max(values)
    return [value - top for value in values]


def _summary(heads: Sequence[Head]) -> str:
    slopes = [head.slope for head in heads if head.slope is not None]
    return f"Recency slopes run from {min(slopes):.3g} to {max(slopes):.3g} nats per base." if slopes else ""


def sinks(name: str, title: str, positions: Sequence[float], heads: Sequence[Head], colour: str) -> Figure:
    """One panel a layer: u(j) of its heads against the key's position j."""
    layers = max(head.layer for head in heads) + 1
    with drawing():
        columns = min(layers, 4)
        rows = -(-layers // columns)
        figure, axes = canvas(rows, columns, height=0.7 + 1.7 * rows, share_x=True, share_y=True)
        for head in heads:
            panel = axes[head.layer]
            _lines(panel, positions, head.sinks, colour, DOTS // ROOMY)
            panel.set_title(f"layer {head.layer + 1}", fontsize=8.5, fontweight="normal")
            panel.set_xscale("symlog", linthresh=1)
            panel.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"], fontsize=8)
            panel.minorticks_off()
        figure.supxlabel("position of the key j (bases)", fontsize=9.5)
        for panel in axes[layers:]:
            panel.set_visible(False)
        axes[0].set_ylabel("sink u(j) (nats)")
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(min(low, -LEAST_SINK), max(high, LEAST_SINK))
    first = max(abs(head.sinks[-1][0] - head.sinks[-1][-1]) for head in heads)
    return Figure(
        name,
        title,
        "Prior",
        reading="One line a head. A peak at j = 0 is a sink: a place where a head can put its attention when it has "
        f"nothing to say{_along(heads[0].sinks)}.",
        limits="Only differences along a line matter. A high u(0) says that the prior offers a sink, not that the head "
        "uses it; `dnagoat inspect` measures that.",
        alt=f"Line charts of the sink term against key position for {counted(layers, 'layer')}; the largest difference "
        f"between the first and the last position is {first:.2f} nats.",
        drawing=figure,
    )


def figures(results: Results, warnings: Warnings) -> Iterator[Figure | None]:
    yield from (log_prior(results, run) for run in results.firsts)
    yield from (sink(results, run) for run in results.firsts)


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """A row a head: the distance that its prior likes best, its slope, and what it gives the first key."""
    columns = [
        Column("peak", "Prior is highest at", "bases"),
        Column("slope", "Slope", "nats per base"),
        Column("sink", "Sink, first key over last", "nats"),
    ]
    for result in results:
        rows = [
            Row(f"layer {layer['layer'] + 1}, head {head['head'] + 1}", _described(result, head))
            for layer in result["layers"]
            for head in layer["heads"]
        ]
        title = f"The log-prior of {result['position']} over {result['context']:,} bases"
        yield Table("prior", title, "Head", columns, rows)


def _described(result: Result, head: Result) -> list[Cell]:
    log_prior, sinks = head["log_prior"], head.get("sink")
    level = not log_prior or max(log_prior) == min(log_prior)
    peak = None if level else result["distances"][int(np.argmax(log_prior))]
    return [
        number(peak, 0),
        number(head.get("slope")),
        number(sinks[0] - sinks[-1] if sinks else None, 3),
    ]


PRIOR = Section("Prior", needs=(Need("prior", "test", "prior"),), figures=figures, of_results=of_results)
