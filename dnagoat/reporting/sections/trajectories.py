"""Whether GC % along generated DNA follows the true continuation: correlations with nulls, and the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dnagoat.reporting.cells import estimate, row_of
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.drawing.figure import CLOUD, Figure, canvas, draw_cloud, leave_empty, legend_above, thinned
from dnagoat.reporting.drawing.room import broken
from dnagoat.reporting.numbers import decimals, interval, listed
from dnagoat.reporting.sections.composition import SECTION, foreign, null_name
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import MUTED, TEXT, Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 24  # letters of a row's name before it is broken
NULL_DASHES = {"another locus": ":", "markov": "-.", "prompt GC": "--"}


def correlation(results: Results, made: list[tuple[RunResults, Result]]) -> Figure:
    """Pearson r of each model and each null with the true continuation, pooled and of the mean trajectory."""
    styles = looks(results.arms)
    rows: list[tuple[str, Result, Look | None]] = [
        (run.arm, generation["gc"], styles[run.arm]) for run, generation in made
    ]
    first = made[0][1]
    rows += [(f"null: {null_name(first, name)}", null, None) for name, null in first["gc"]["nulls"].items()]
    with drawing():
        figure, axes = canvas(1, 2, height=0.95 + 0.3 * len(rows), share_y=True)
        for panel, way, title in zip(axes, ("pooled", "averaged"), ("pooled windows", "mean trajectory"), strict=True):
            for place, (_, gc, look) in enumerate(rows):
                _dot(panel, place, gc[way], look)
            panel.axvline(0, color=MUTED.light, linewidth=0.9)
            panel.set_title(title)
            panel.set_xlabel("Pearson r with the true continuation")
            panel.set_xlim(max(-1.0, min(-0.1, panel.get_xlim()[0])), min(1.0, panel.get_xlim()[1]))
            panel.grid(axis="y", visible=False)
        axes[0].set_yticks(range(len(rows)), [broken(row[0], LONGEST) for row in rows])
        axes[0].set_ylim(len(rows) - 0.4, -0.6)
    told = [
        f"{name} {decimals(gc['pooled']['r'], 2)} ({interval(gc['pooled']['interval'], 2)})" for name, gc, _ in rows
    ]
    return Figure(
        "gc-correlation",
        "Does the GC % of generated DNA follow the true continuation?",
        SECTION,
        reading="Further right is better; 0 means no relation. Pooled takes every window of every prompt; the mean "
        "trajectory averages over prompts first. Lines are 95 % intervals from resampling prompts. Grey rows are what "
        "one gets without a model: a model has to beat them to show that it follows the locus.",
        limits="GC % differs between loci, so any method that keeps the prompt's own GC % scores above 0. A high r "
        "does not make the sequence right, only its composition.",
        alt=f"Dot chart of Pearson r of GC % with the true continuation, pooled: {listed(told)}.",
        drawing=figure,
    )


def _dot(panel: Axes, place: int, estimate: Result, look: Look | None) -> None:
    if estimate["r"] is None:
        panel.text(0.02, place, "n/a", va="center", fontsize=8.5, color=MUTED.light)
        return
    colour, marker = (look.colour, look.marker) if look else (MUTED.light, "o")
    if estimate["interval"]:
        panel.plot(estimate["interval"], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
    panel.plot(estimate["r"], place, marker=marker, color=colour, markersize=7)


def trajectories(results: Results, made: list[tuple[RunResults, Result]]) -> Figure:
    """GC % along the continuation of some loci: the truth, each model's mean, and the nulls."""
    styles = looks(results.arms)
    first = made[0][1]
    shown = first["trajectories"][:6]
    positions = first["positions"]
    with drawing():
        figure, axes = canvas(
            -(-len(shown) // 2), 2, height=0.9 + 1.45 * -(-len(shown) // 2), share_x=True, share_y=True
        )
        for panel, trajectory in zip(axes, shown, strict=False):
            for name, curve in trajectory["curves"].items():
                if name not in ("true", "generated"):
                    label, dash = null_name(first, name), NULL_DASHES[name]
                    panel.plot(positions, _percent(curve), color=MUTED.light, linestyle=dash, linewidth=1, label=label)
            panel.plot(positions, _percent(trajectory["curves"]["true"]), color=TEXT.light, linewidth=2, label="true")
            for run, generation in made:
                match = _same_locus(generation, trajectory)
                if match:
                    own = styles[run.arm]
                    curve = _percent(match["curves"]["generated"])
                    panel.plot(positions, curve, color=own.colour, linestyle=own.dash, label=run.arm)
            locus = trajectory["locus"]
            panel.set_title(f"{locus['contig']}:{locus['start']:,}", fontsize=8.5, fontweight="normal")
        leave_empty(axes, len(shown), 2)
        figure.supxlabel("bases after the prompt", fontsize=9.5)
        figure.supylabel("GC (%)", fontsize=9.5)
        handles, names = axes[0].get_legend_handles_labels()
        unique = dict(zip(names, handles, strict=True))
        legend_above(figure, list(unique.values()), list(unique), most=3)
    return Figure(
        "gc-trajectories",
        "GC % along the true and the generated continuation of some loci",
        SECTION,
        reading="Each panel is one held-out locus, chosen evenly along the test split and not by its looks. The "
        "dark line is the real sequence; a coloured line is the mean over that model's samples; grey lines are the "
        "nulls.",
        limits="A few loci show what the correlation means, not how large it is. A mean over samples is smoother "
        "than any one sequence.",
        alt=f"{counted(len(shown), 'line chart')} of GC % against the distance from the prompt: true, generated and "
        "null continuations.",
        drawing=figure,
    )


def _same_locus(generation: Result, trajectory: Result) -> Result | None:
    return next((each for each in generation["trajectories"] if each["locus"] == trajectory["locus"]), None)


def _percent(curve: list[float | None]) -> list[float]:
    return [float("nan") if value is None else 100 * value for value in curve]


def scatter(results: Results, made: list[tuple[RunResults, Result]]) -> Figure:
    """GC % of the generated against that of the true continuation, one point a window, one panel a run."""
    styles = looks(results.arms)
    shown = made[:9]
    columns = min(3, max(2, len(shown)))
    rows = -(-len(shown) // columns)
    every = np.concatenate([np.ravel(np.asarray(values, float)) for _, g in shown for values in g["scatter"].values()])
    edges = 100 * float(np.nanmin(every)) - 3, 100 * float(np.nanmax(every)) + 3
    with drawing():
        figure, axes = canvas(rows, columns, height=0.4 + (0.3 + 6.0 / columns) * rows, share_x=True, share_y=True)
        for panel, (run, generation) in zip(axes, shown, strict=False):
            points = generation["scatter"]
            true, generated = (100 * np.ravel(np.asarray(points[key], dtype=float)) for key in ("true", "generated"))
            kept = thinned(len(true), CLOUD)
            panel.plot([0, 100], [0, 100], color=MUTED.light, linewidth=0.9, linestyle="--")
            draw_cloud(panel, true[kept], generated[kept], styles[run.arm])
            pooled = generation["gc"]["pooled"]
            r = f"r = {decimals(pooled['r'], 2)} ({interval(pooled['interval'], 2)})"
            panel.set_title(f"{run.arm}\n{r}", fontsize=8.5, fontweight="normal")
            panel.set_xlim(*edges)
            panel.set_ylim(*edges)
            panel.set_box_aspect(1)
        leave_empty(axes, len(shown), columns)
        figure.supxlabel("GC of the true continuation (%)", fontsize=9.5)
        figure.supylabel("GC of the generated one (%)", fontsize=9.5)
    told = [f"{run.arm} r = {decimals(generation['gc']['pooled']['r'], 2)}" for run, generation in shown]
    return Figure(
        "gc-scatter",
        "GC % of generated against true windows",
        SECTION,
        reading=f"One point a window (at most {CLOUD} drawn, evenly chosen), the generated value being the mean over "
        "samples. On the dashed line generated and true agree; r is over all windows, with its 95 % interval.",
        limits="Neighbouring windows overlap, so the points are not independent: the interval resamples whole prompts.",
        alt=f"Scatter plots of GC % of generated against true windows: {listed(told)}.",
        drawing=figure,
    )


def by_way(results: Results, warnings: Warnings) -> Table | None:
    """Every way to correlate GC %, for models and nulls."""
    made = results.having("generation")
    if not made:
        return None
    rows = [row_of(results, run, _ways(generation["gc"]), warnings.of(run, "generation")) for run, generation in made]
    return correlations([*rows, *_nulls(made[0][1], foreign(results, made))])


def of_one(generation: Result) -> Table:
    return correlations([Row("the model", _ways(generation["gc"])), *_nulls(generation)])


def correlations(rows: list[Row]) -> Table:
    columns = [
        Column("pooled", "Pooled windows", "Pearson r"),
        Column("averaged", "Mean trajectory", "Pearson r"),
        Column("per_prompt", "Mean over prompts", "Pearson r"),
    ]
    note = "n/a: one of the two is constant, so there is no correlation. Intervals resample prompts."
    return Table("gc-trajectory", "GC % trajectory, three ways", "Sequence", columns, rows, [note])


def _nulls(generation: Result, foreign: str = "") -> list[Row]:
    nulls = generation["gc"]["nulls"].items()
    return [Row(f"null: {null_name(generation, name)}{foreign}", _ways(gc), muted=True) for name, gc in nulls]


def _ways(gc: Result) -> list[Cell]:
    return [estimate(gc[way]["r"], gc[way].get("interval"), 3) for way in ("pooled", "averaged", "per_prompt")]
