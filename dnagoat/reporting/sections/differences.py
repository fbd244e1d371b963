"""How far each model is from the reference: the figure beside the verdict, and where the difference comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dnagoat.evaluation.scoring.verdict_rule import judged_split
from dnagoat.reporting.cells import called
from dnagoat.reporting.drawing.figure import Figure, canvas, name_rows, panels_of
from dnagoat.reporting.drawing.marks import Bounds, draw_estimate, mark
from dnagoat.reporting.numbers import decimals, listed, whole, with_interval
from dnagoat.reporting.paired import differences
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import GRID, MUTED, TEXT, Look, drawing, looks
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDE = 0.3  # share of the panel that each side of 0 has at least: its words stand there
QUARTER = 0.25  # of a window: what the comparison calls early and late


@dataclass(frozen=True)
class Row:
    """A model minus the reference in nats per base, with one interval, and each seed by itself."""

    name: str
    arm: str
    value: float
    bounds: Bounds
    seeds: Sequence[float]
    call: str

    @property
    def said(self) -> str:
        call = f", {self.call}" if self.call else ""
        return f"{self.name}: {with_interval(self.value, self.bounds, sign=True)}{call}"


def draw_verdict(results: Results) -> Figure | None:
    """One mark a model with its interval; None where no differences are known."""
    if results.comparison is None:
        return _of_runs(results)
    reference, *arms = results.comparison["arms"]
    if not arms:
        return None
    split = judged_split(results.comparison["arms"])
    rows = [_row(arm["name"], arm["splits"][split]["all"]["difference"]) for arm in arms]
    own = reference["splits"][split]["all"]
    noise = [seed - own["value"] for seed in own["by_seed"]]
    seeds = counted(len(noise), "seed")
    reading = (
        f"A large mark is the mean of {seeds}, a small dot a single seed, the line the 95 % interval over seeds and "
        f"over stretches of the genome. The grey band is how far the seeds of {reference['name']} lie apart."
    )
    limits = (
        "Each end of the line is the farther one of two intervals: over seeds (training again) and over blocks of the "
        "genome. A line across 0 means that the difference was not shown, not that there is none. It holds for this "
        "size, this amount of training and this genome."
    )
    return difference_chart(reference["name"], rows, noise, looks(results.arms), reading, limits)


def _of_runs(results: Results) -> Figure | None:
    found = differences(results)
    if not found:
        return None
    reference = called(results, results.scored[0])
    rows = [
        Row(called(results, run), run.arm, paired.value, paired.bounds, (), "")
        for run in results.scored
        if (paired := found.get(run.key))
    ]
    reading = (
        "A dot is the difference of two models on the very same bases, and the line its 95 % interval over blocks of "
        "the genome."
    )
    limits = "One training seed an arm: another seed may turn the order round, and the line does not cover that."
    return difference_chart(reference, rows, (), looks(results.arms), reading, limits)


def _row(name: str, found: Result) -> Row:
    return Row(name, name, found["value"], both_intervals(found), found["by_seed"], found["verdict"])


def both_intervals(found: Result) -> tuple[float, float] | None:
    """One interval that takes in both of the rule, which asks that both lie on the same side of 0."""
    both = [bounds for bounds in (found["over_seeds"], found["over_blocks"]) if bounds]
    return (min(low for low, _ in both), max(high for _, high in both)) if both else None


def difference_chart(
    reference: str, rows: Sequence[Row], noise: Sequence[float], styles: dict[str, Look], reading: str, limits: str
) -> Figure:
    """A row a model, the best first; `noise` are single seeds of the reference about their mean."""
    ranked = sorted(rows, key=lambda row: row.value)
    with drawing():
        figure, (panel,) = canvas(height=1.1 + 0.42 * len(ranked))
        _draw_zero(panel, noise)
        for place, row in enumerate(ranked):
            _draw_row(panel, place, row, styles[row.arm])
        name_rows(panel, [(row.name, row.arm) for row in ranked])
        _make_room(panel)
        _name_sides(panel, reference)
        panel.set_xlabel(f"NLL minus that of {reference} (nats per base)")
    return Figure(
        "comparison",
        f"How far each model is from {reference}",
        reading=reading,
        limits=limits,
        alt=f"Dots with intervals, the difference to {reference} in nats per base, below 0 is better: "
        f"{listed([row.said for row in ranked])}.",
        drawing=figure,
    )


def _draw_zero(panel: Axes, noise: Sequence[float]) -> None:
    panel.axvline(0, color=MUTED.light, linewidth=1, zorder=1)
    if len(noise) > 1:
        band = panel.axvspan(min(noise), max(noise), color=GRID.light, linewidth=0, zorder=0)
        mark(band, None, "how far the seeds of the reference lie apart")


def _name_sides(panel: Axes, reference: str) -> None:
    better, worse = f"\N{LEFTWARDS ARROW} better than {reference}", "worse \N{RIGHTWARDS ARROW}"
    for words, side, away in ((better, "right", -6), (worse, "left", 6)):
        panel.annotate(
            words, (0, 1), xycoords=("data", "axes fraction"), xytext=(away, 5), textcoords="offset points", ha=side
        )


def _draw_row(panel: Axes, place: int, row: Row, look: Look) -> None:
    """The seeds lie below the line, so that they hide nothing of it; the number stands above its dot."""
    draw_estimate(panel, row.value, row.bounds, place, look, row.arm, row.said)
    for seed in row.seeds if len(row.seeds) > 1 else ():
        (dot,) = panel.plot(seed, place + 0.26, color=look.colour, marker="o", markersize=2.5, linestyle="")
        mark(dot, row.arm, f"{row.name}, one seed: {decimals(seed, sign=True)}")
    words = panel.annotate(
        decimals(row.value, sign=True), (row.value, place), xytext=(0, 5), textcoords="offset points", ha="center",
        va="bottom", fontsize=8.5, color=TEXT.light,
    )  # fmt: skip
    mark(words, row.arm)


def _make_room(panel: Axes) -> None:
    low, high = panel.get_xlim()
    low, high = min(low, -0.02 * (high - low)), max(high, 0.02 * (high - low))
    low, high = min(low, -SIDE / (1 - SIDE) * high), max(high, -SIDE / (1 - SIDE) * low)
    panel.set_xlim(low, high)
    panel.locator_params(axis="x", nbins=6)


def draw_origins(results: Results) -> Figure | None:
    """A panel a stratum of the comparison, a row an arm: in which bases it differs from the reference."""
    comparison = results.comparison
    if comparison is None or len(comparison["arms"]) < 2:
        return None
    reference, *arms = comparison["arms"]
    split = judged_split(comparison["arms"])
    strata = [name for name in reference["splits"][split] if name != "all"]
    if not strata:
        return None
    styles = looks(results.arms)
    spoken = _spoken(results)
    rows = {
        spoken.get(stratum, stratum): [_row(arm["name"], arm["splits"][split][stratum]["difference"]) for arm in arms]
        for stratum in strata
    }
    with drawing():
        height = 0.6 + (0.55 + 0.26 * len(arms)) * -(-len(strata) // 2)
        figure, axes = panels_of(len(strata), 2, height=height)
        for panel, (stratum, found) in zip(axes, rows.items(), strict=True):
            panel.axvline(0, color=MUTED.light, linewidth=1, zorder=1)
            for place, row in enumerate(found):
                draw_estimate(panel, row.value, row.bounds, place, styles[row.arm], row.arm, row.said)
            panel.set_title(stratum)
            panel.locator_params(axis="x", nbins=4)
            name_rows(panel, [(row.name, row.arm) for row in found])
        figure.supxlabel(
            f"\N{LEFTWARDS ARROW} better     NLL minus that of {reference['name']} (nats per base)     "
            "worse \N{RIGHTWARDS ARROW}",
            fontsize=9.5,
        )
    told = [f"{stratum}: {listed([row.said for row in found])}" for stratum, found in rows.items()]
    return Figure(
        "comparison-strata",
        "In which bases does the difference lie?",
        reading=f"Left of 0 is better than {reference['name']}; what is gained at the end of a window and not at its "
        "beginning comes from context.",
        limits="The line is the 95 % interval that takes in the one over seeds and the one over blocks of the genome.",
        alt=f"Dots with intervals in nats per base. {'; '.join(told)}.",
        drawing=figure,
    )


def _spoken(results: Results) -> dict[str, str]:
    """Strata in whole words; a window is as long as the models' context, unless the dataset says otherwise."""
    window = results.manifests[0]["rules"]["window"] if results.manifests else results.runs[0].config.model.context
    part = f"{whole(QUARTER * window)} bases of a window"
    return {"repeat": "repeats", "unique": "outside repeats", "early": f"first {part}", "late": f"last {part}"}
