"""Training curves: how fast each model learned, against the bases it has read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dnagoat.reporting.cells import number, row_of
from dnagoat.reporting.comparability import Warnings, same_bases
from dnagoat.reporting.drawing.figure import CURVE, Figure, canvas, legend_above, thinned
from dnagoat.reporting.drawing.marks import draw_curve, mark
from dnagoat.reporting.numbers import decimals, listed
from dnagoat.reporting.section import Question, Section
from dnagoat.reporting.sections.baselines import find_baseline
from dnagoat.reporting.sources import Results, RunResults
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Column, Table
from dnagoat.training.kept.learning_curve import late_losses, validations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from dnagoat.reporting.style import Look


def curves(results: Results) -> Figure | None:
    """Training loss (thin, smoothed) and validation NLL (marked) against bases, one colour an arm, one line a run."""
    shown = [run for run in results.runs if len(run.metrics) > 1]
    if not shown:
        return None
    styles = looks(results.arms)
    with drawing():
        figure, (axes,) = canvas(height=3.4)
        lowest = [_draw(axes, run, styles[run.arm]) for run in shown]
        order0 = _order0(shown)
        if order0 is not None:
            axes.axhline(order0, color=MUTED.light, linestyle=":", linewidth=1)
            axes.annotate(
                "base composition alone (order 0)",
                (1, order0),
                xycoords=("axes fraction", "data"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="right",
                fontsize=8.5,
                color=MUTED.light,
            )
        floor = min([*lowest, *([order0] if order0 is not None else [])])
        axes.set_ylim(floor - 0.01, max(1.40, floor + 0.03, (order0 or 0) + 0.02))
        axes.set_xlim(left=0)
        axes.set_xlabel("bases read in training (millions)")
        axes.set_ylabel("NLL (nats per base)")
        _legend(figure, shown, results)
    ends = [f"{run.arm} ended at {decimals(run.last('val_nll'), 3)}" for run in shown[:6]]
    return Figure(
        "training-curves",
        "How fast each model learned",
        reading="Lower is better: marks are the NLL on validation windows, the thin line is the training loss.",
        limits="The training loss is smoothed over 5 % of the steps. Validation also chose the checkpoint: the "
        "validation windows are few and were used for selection, so read the final number in the table, "
        "not here; a line that still falls says that training was stopped, not finished.",
        alt=f"Line chart of NLL against bases read. On validation, in nats per base, {listed(ends)}.",
        drawing=figure,
    )


def _draw(axes: Axes, run: RunResults, look: Look) -> float:
    """Draws one run; returns its lowest value, in nats per base."""
    rows = [row for row in run.metrics if row.get("loss") is not None]
    bases = np.array([row["bases"] for row in rows]) / 1e6
    loss = _smoothed(np.array([row["loss"] for row in rows]))
    kept = thinned(len(loss), CURVE)
    (line,) = axes.plot(bases[kept], loss[kept], color=look.colour, linewidth=0.8, alpha=0.55)
    mark(line, run.arm, f"{run.arm}, training loss")
    points = [(bases / 1e6, nll) for bases, nll in validations(run.metrics)]
    if points:
        points = [points[place] for place in thinned(len(points), CURVE)]
        said = [f"{run.arm}, seed {run.seed}, {millions:.2f} M bases: {decimals(value)}" for millions, value in points]
        xs, ys = ([point[side] for point in points] for side in (0, 1))
        draw_curve(axes, xs, ys, look, run.arm, said, zorder=3)
    return float(min([loss.min(), *(value for _, value in points)]))


def _smoothed(values: np.ndarray) -> np.ndarray:
    """A centred mean over 5 % of the points, cut off at the ends."""
    half = len(values) // 40
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    smooth: np.ndarray = (total[high] - total[low]) / (high - low)
    return smooth


def _order0(runs: list[RunResults]) -> float | None:
    """NLL of the base composition alone; None where the runs were validated on different bases."""
    if not same_bases(runs, "val"):
        return None
    for run in runs:
        if composition := find_baseline(run.nll("val"), "markov", 0):
            return float(composition["value"])
    return None


def _legend(figure: Drawing, shown: list[RunResults], results: Results) -> None:
    from matplotlib.lines import Line2D

    styles = looks(results.arms)
    arms = list(dict.fromkeys(run.arm for run in shown))
    handles = [
        Line2D([], [], color=styles[arm].colour, marker=styles[arm].marker, linestyle=styles[arm].dash) for arm in arms
    ]
    seeds = {arm: len(results.of(arm)) for arm in arms}
    names = [arm if seeds[arm] == 1 else f"{arm} ({seeds[arm]} seeds)" for arm in arms]
    legend_above(figure, handles, names, most=4)


def gaps(results: Results, warnings: Warnings) -> Table | None:
    """Training and validation loss at the end of each run, and what lies between them."""
    found = [(run, *late_losses([row for row in run.metrics if row.get("loss") is not None])) for run in results.runs]
    known = [(run, train, val) for run, train, val in found if train is not None and val is not None]
    if not known:
        return None
    columns = [
        Column("train", "Training loss", "nats per base"),
        Column("val", "Validation NLL", "nats per base"),
        Column("gap", "Training minus validation", "nats per base"),
    ]
    rows = [
        row_of(results, run, [number(train), number(val), number(train - val, sign=True)]) for run, train, val in known
    ]
    note = (
        "The mean loss of the steps since the validation before the last, and the last validation: other windows, so "
        "that a part of the difference is which ones they are. Far below 0 a model knows its training windows by "
        "heart; with memory a window's own words are left out of its counts, its near copies elsewhere are not."
    )
    return Table("training-gaps", "Training loss beside validation", "Model", columns, rows, [note])


TRAINING = Section(
    Question.SOON,
    figures=lambda results, warnings: [curves(results)],
    details=lambda results, warnings: [gaps(results, warnings)],
)
