"""Whether generated DNA has the composition of the true continuation: GC % along it, correlations, k-mers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dnagoat.reporting.figures.figure import CLOUD, Figure, canvas, leave_empty, legend_above, thinned
from dnagoat.reporting.figures.room import broken
from dnagoat.reporting.numbers import decimals, interval, listed
from dnagoat.reporting.results import Result, Results, RunResults
from dnagoat.reporting.style import MUTED, TEXT, Look, drawing, looks
from dnagoat.reporting.tables import null_name
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SECTION = "Generated DNA"
LONGEST = 24  # letters of a row's name before it is broken
CLOUDS = 4  # arms whose words are drawn over each other; more hide each other
NULL_DASHES = {"another locus": ":", "markov": "-.", "prompt GC": "--"}


def every(results: Results) -> list[Figure | None]:
    """All figures of generated DNA; None for each that has no data."""
    made = [(run, run.measures["generation"]) for run in results.firsts if "generation" in run.measures]
    if not made:
        return []
    return [correlation(results, made), trajectories(results, made), scatter(results, made), kmers(results, made)]


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
            _cloud(panel, true[kept], generated[kept], styles[run.arm])
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


def kmers(results: Results, made: list[tuple[RunResults, Result]]) -> Figure:
    """Divergence of the k-mer spectrum against k with its floor, and the words of one k, generated against true."""
    styles = looks(results.arms)
    floor = made[0][1]["kmers"]
    with drawing():
        figure, (left, right) = canvas(1, 2, height=3.3 + 0.1 * len(made))
        for run, generation in made:
            look = styles[run.arm]
            left.plot(
                *_series(generation["kmers"], "jsd"),
                color=look.colour,
                marker=look.marker,
                markersize=4,
                linestyle=look.dash,
                label=run.arm,
            )
        chain = null_name(made[0][1], "markov")
        left.plot(*_series(floor, "markov"), color=MUTED.light, linestyle=NULL_DASHES["markov"], label=chain)
        left.plot(*_series(floor, "floor"), color=TEXT.light, linestyle="--", label="real DNA of other loci")
        left.set_yscale("log")
        left.set_xlabel("word length k (bases)")
        left.set_ylabel("Jensen-Shannon divergence (bits)")
        legend_above(figure, *left.get_legend_handles_labels(), most=3)
        for run, generation in made[:CLOUDS]:
            _words(right, generation["spectrum"], styles[run.arm])
        right.set_xscale("log")
        right.set_yscale("log")
        right.axline((1e-4, 1e-4), (1e-2, 1e-2), color=MUTED.light, linewidth=0.9, linestyle="--")
        k = made[0][1]["spectrum"]["k"]
        right.set_xlabel(f"share of each {k}-mer in true DNA")
        right.set_ylabel("share in generated DNA")
    last = floor[-1]
    told = [f"{run.arm} {decimals(generation['kmers'][-1]['jsd'], 3)}" for run, generation in made[:6]]
    return Figure(
        "kmers",
        "Does generated DNA use words as often as real DNA?",
        SECTION,
        reading="Left: how far the words of length k are from those of the true continuations; lower is better, and "
        "the dashed line is what as much real DNA from other loci gets, so no model can be expected below it. "
        f"Right: {k}-mers, one point each (at most {CLOUD} an arm, evenly chosen from the alphabet of words"
        f"{f', for the first {CLOUDS} arms' if len(made) > CLOUDS else ''}); on the dashed line both use it equally.",
        limits="The divergence grows with k because a small sample misses rare words: compare with the floor, not "
        "with 0. It ignores where words stand, so a shuffled copy would score perfectly.",
        alt=f"Line chart of Jensen-Shannon divergence against word length, and a scatter of {k}-mer shares. At k = "
        f"{last['k']}: {listed(told)}, real DNA {decimals(last['floor'], 3)} bits.",
        drawing=figure,
    )


def _series(rows: list[Result], key: str) -> tuple[list[int], list[float]]:
    known = [row for row in rows if row.get(key)]
    return [row["k"] for row in known], [row[key] for row in known]


def _words(panel: Axes, spectrum: Result, look: Look) -> None:
    true, generated = (np.array(spectrum[key]) for key in ("true", "generated"))
    both = np.flatnonzero((true > 0) & (generated > 0))
    kept = both[thinned(len(both), CLOUD)]
    _cloud(panel, true[kept], generated[kept], look)


def _cloud(panel: Axes, xs: np.ndarray, ys: np.ndarray, look: Look) -> None:
    panel.plot(xs, ys, marker=look.marker, linestyle="", markersize=3, color=look.colour, alpha=0.4, markeredgewidth=0)
