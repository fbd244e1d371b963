"""Whether GC % along generated DNA follows the true continuation: correlations with nulls, and the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dnagoat.reporting.cells import estimate, row_of
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.drawing.figure import (
    CLOUD,
    Figure,
    canvas,
    draw_cloud,
    legend_above,
    name_rows,
    panels_of,
    thinned,
)
from dnagoat.reporting.drawing.marks import draw_estimate, mark
from dnagoat.reporting.drawing.room import broken
from dnagoat.reporting.numbers import decimals, interval, listed
from dnagoat.reporting.sections.composition import foreign, null_name
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import MUTED, TEXT, Dash, Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Made = list[tuple[RunResults, Result]]

WAYS = {"pooled": "all windows", "averaged": "mean over prompts"}
LOCI, MODELS = 3, 4  # rows and columns of the curves: of more nobody sees which follows the truth
TITLE = 88  # letters above a row of panels
NULL: Dash = "--"


def correlation(results: Results, made: Made) -> Figure:
    """Pearson r of each model and each null with the true continuation, pooled and of the mean trajectory."""
    styles = looks(results.arms)
    rows: list[tuple[str, Result, str | None]] = [(run.arm, generation["gc"], run.arm) for run, generation in made]
    first = made[0][1]
    rows += [(f"null: {null_name(first, name)}", null, None) for name, null in first["gc"]["nulls"].items()]
    with drawing():
        figure, axes = canvas(1, 2, height=0.95 + 0.3 * len(rows), share_y=True)
        for panel, (way, title) in zip(axes, WAYS.items(), strict=True):
            for place, (name, gc, arm) in enumerate(rows):
                _draw_correlation(panel, place, gc[way], styles.get(arm or ""), arm, name)
            panel.axvline(0, color=MUTED.light, linewidth=0.9)
            panel.set_title(title)
            panel.set_xlabel("Pearson r with the true continuation")
            panel.set_xlim(max(-1.0, min(-0.1, panel.get_xlim()[0])), min(1.0, panel.get_xlim()[1]))
            name_rows(panel, [(name, arm) for name, _, arm in rows])
    told = [
        f"{name} {decimals(gc['pooled']['r'], 2)} ({interval(gc['pooled']['interval'], 2)})" for name, gc, _ in rows
    ]
    return Figure(
        "gc-correlation",
        "Does the GC % of generated DNA follow the true continuation?",
        reading="Further right is better, and a model that is no further right than the grey rows, which need no "
        "model, has not followed the locus; lines are 95 % intervals.",
        limits="The left panel takes every window of every prompt; the right one averages over prompts first. "
        "Intervals resample prompts. GC % differs between loci, so any method that keeps the prompt's own GC % scores "
        "above 0. A high r does not make the sequence right, only its composition.",
        alt=f"Dot chart of Pearson r of GC % with the true continuation, pooled: {listed(told)}.",
        drawing=figure,
    )


def _draw_correlation(panel: Axes, place: int, found: Result, look: Look | None, arm: str | None, name: str) -> None:
    if found["r"] is None:
        panel.text(0.02, place, "n/a", va="center", fontsize=8.5, color=MUTED.light)
        return
    bounds = interval(found["interval"], 2)
    said = f"{name}: r = {decimals(found['r'], 3)}{f' ({bounds})' if bounds else ''}"
    draw_estimate(panel, found["r"], found["interval"], place, look, arm, said)


def trajectories(results: Results, made: Made) -> Figure:
    """A column a model, a row a locus: its mean GC % beside the truth, and the r of the two at that locus."""
    styles = looks(results.arms)
    first, shown = made[0][1], _telling(made)
    loci, positions = first["trajectories"][:LOCI], first["positions"]
    with drawing():
        figure, axes = canvas(len(loci), len(shown), height=0.9 + 1.15 * len(loci), share_x=True, share_y=True)
        for row, locus in enumerate(loci):
            panels = axes[row * len(shown) : (row + 1) * len(shown)]
            for panel, (run, generation) in zip(panels, shown, strict=True):
                _draw_null(panel, positions, locus, first)
                _draw_model(panel, positions, locus, generation, run.arm, styles[run.arm])
                if row == 0:
                    panel.set_title(broken(run.arm, TITLE // len(shown)), fontsize=9)
            place = locus["locus"]
            panels[0].set_ylabel(f"{place['contig']}\n{place['start']:,}", fontsize=8.5)
        axes[0].margins(y=0.3)
        figure.supxlabel("bases after the prompt", fontsize=9.5)
        figure.supylabel("GC (%) at a locus", fontsize=9.5)
        legend_above(figure, *_lines(first), most=4)
    chosen = "" if len(shown) == len(made) else "; of the models, the first and those of the highest r"
    return Figure(
        "gc-trajectories",
        "Which model follows the truth along a locus?",
        reading="The coloured line is a model's mean, the dark one the real sequence and the grey one what one gets "
        "without a model; r is of the coloured with the dark.",
        limits=f"The loci are chosen evenly along the test split and not by their looks{chosen}. They show what the "
        "correlation means, not how large it is. A mean over samples is smoother than any one sequence.",
        alt=f"{counted(len(loci) * len(shown), 'line chart')} of GC % against the distance from the prompt, for "
        f"{listed([run.arm for run, _ in shown])}: true, generated and null continuations.",
        drawing=figure,
    )


def _telling(made: Made) -> Made:
    """The first model and those whose GC % follows the truth best, as many as have room."""
    best = sorted(made[1:], key=lambda each: -(each[1]["gc"]["pooled"]["r"] or -1.0))[: MODELS - 1]
    return [each for each in made if each is made[0] or each in best]


def _draw_null(panel: Axes, positions: list[float], locus: Result, first: Result) -> None:
    panel.plot(positions, _percent(locus["curves"][_plain(first)]), color=MUTED.light, linestyle=NULL, linewidth=1)
    panel.plot(positions, _percent(locus["curves"]["true"]), color=TEXT.light, linewidth=1.4)
    panel.locator_params(nbins=4)


def _draw_model(panel: Axes, positions: list[float], locus: Result, generation: Result, arm: str, look: Look) -> None:
    """The model's own curve at this locus, and its correlation with the truth."""
    own = next((each for each in generation["trajectories"] if each["locus"] == locus["locus"]), None)
    if own is None:
        return
    curve = _percent(own["curves"]["generated"])
    r = decimals(_pearson(curve, _percent(locus["curves"]["true"])), 2)
    (line,) = panel.plot(positions, curve, color=look.colour, linewidth=1.8)
    mark(line, arm, f"{arm}: r = {r} at {locus['locus']['contig']}:{locus['locus']['start']:,}")
    words = panel.text(0.98, 0.96, f"r = {r}", transform=panel.transAxes, ha="right", va="top", fontsize=8.5)
    mark(words, arm)


def _plain(generation: Result) -> str:
    """The null that is drawn: the Markov chain where there is one."""
    nulls = generation["gc"]["nulls"]
    return "markov" if "markov" in nulls else str(next(iter(nulls)))


def _lines(first: Result) -> tuple[list[Line2D], list[str]]:
    from matplotlib.lines import Line2D

    truth = Line2D([], [], color=TEXT.light, linewidth=1.4)
    null = Line2D([], [], color=MUTED.light, linestyle=NULL, linewidth=1)
    return [truth, null], ["real sequence", f"null: {null_name(first, _plain(first))}"]


def _pearson(one: list[float], other: list[float]) -> float | None:
    """Over the windows that both have; None where one of them is constant."""
    pairs = np.array([one, other])
    pairs = pairs[:, np.isfinite(pairs).all(axis=0)]
    if pairs.shape[1] < 2 or (np.ptp(pairs, axis=1) == 0).any():
        return None
    return float(np.corrcoef(pairs)[0, 1])


def _percent(curve: list[float | None]) -> list[float]:
    return [float("nan") if value is None else 100 * value for value in curve]


def scatter(results: Results, made: Made) -> Figure:
    """GC % of the generated against that of the true continuation, one point a window, one panel a run."""
    styles = looks(results.arms)
    shown = made[:8]
    columns = min(4, max(2, len(shown)))
    rows, most = -(-len(shown) // columns), min(CLOUD, 4 * CLOUD // len(shown))
    every = np.concatenate([np.ravel(np.asarray(values, float)) for _, g in shown for values in g["scatter"].values()])
    edges = 100 * float(np.nanmin(every)) - 3, 100 * float(np.nanmax(every)) + 3
    with drawing():
        figure, axes = panels_of(len(shown), columns, height=0.4 + (0.35 + 5.6 / columns) * rows)
        for panel, (run, generation) in zip(axes, shown, strict=True):
            points = generation["scatter"]
            true, generated = (100 * np.ravel(np.asarray(points[key], dtype=float)) for key in ("true", "generated"))
            kept = thinned(len(true), most)
            panel.plot([0, 100], [0, 100], color=MUTED.light, linewidth=0.9, linestyle="--")
            draw_cloud(panel, true[kept], generated[kept], styles[run.arm], run.arm)
            r = f"r = {decimals(generation['gc']['pooled']['r'], 2)}"
            panel.set_title(f"{broken(run.arm, TITLE // columns)}\n{r}", fontsize=8.5, fontweight="normal")
            panel.set_xlim(*edges)
            panel.set_ylim(*edges)
            panel.set_box_aspect(1)
        figure.supxlabel("GC of the true continuation (%)", fontsize=9.5)
        figure.supylabel("GC of the generated one (%)", fontsize=9.5)
    told = [f"{run.arm} r = {decimals(generation['gc']['pooled']['r'], 2)}" for run, generation in shown]
    return Figure(
        "gc-scatter",
        "GC % of generated against true windows",
        reading="One point a window, its generated value the mean over samples: on the dashed line both agree.",
        limits=f"Of each model at most {most} windows are drawn, evenly chosen; r is over all. Neighbouring windows "
        "overlap, so the points are not independent: intervals resample whole prompts.",
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
