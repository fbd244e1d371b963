"""The verdict as a picture: each arm's paired difference to the reference, seed by seed, with both intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dnagoat.reporting.figures.figure import Figure, canvas, leave_empty
from dnagoat.reporting.figures.room import broken
from dnagoat.reporting.numbers import decimals, listed
from dnagoat.reporting.results import Results
from dnagoat.reporting.style import MUTED, TEXT, Look, drawing, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 3  # panels beside each other
LONGEST = 24  # letters of an arm's name before it is broken
SPOKEN = {"all": "all bases", "repeat": "repeats", "early": "first quarter", "late": "last quarter"}


def differences(results: Results) -> Figure | None:
    """A panel a stratum (all bases first), a row an arm: dots are seeds, lines are the two intervals of the verdict."""
    comparison = results.comparison
    if comparison is None or len(comparison["arms"]) < 2:
        return None
    reference, *arms = comparison["arms"]
    split = "test" if "test" in reference["splits"] else "val"
    strata = list(reference["splits"][split])
    styles = looks(results.arms)
    columns = min(ACROSS, len(strata))
    rows = -(-len(strata) // columns)
    with drawing():
        height = 0.5 + (0.5 + 0.42 * len(arms)) * rows
        figure, axes = canvas(rows, columns, height=height, share_x=True, share_y=True)
        for panel, stratum in zip(axes, strata, strict=False):
            panel.axvline(0, color=MUTED.light, linewidth=1, zorder=1)
            for place, arm in enumerate(arms):
                _row(panel, place, arm["splits"][split][stratum]["difference"], styles[arm["name"]])
            panel.set_title(SPOKEN.get(stratum, stratum))
            panel.grid(axis="y", visible=False)
            panel.locator_params(axis="x", nbins=4)
        leave_empty(axes, len(strata), columns)
        axes[0].set_yticks(range(len(arms)), [broken(arm["name"], LONGEST) for arm in arms])
        axes[0].set_ylim(len(arms) - 0.5, -0.5)
        figure.supxlabel(f"NLL minus that of {reference['name']} (nats per base)", fontsize=9.5)
    told = [
        f"{arm['name']} {decimals(found['value'], sign=True)}, {found['verdict']}"
        for arm in arms
        if (found := arm["splits"][split]["all"]["difference"])
    ]
    return Figure(
        "comparison",
        f"How much each arm differs from {reference['name']}",
        "Likelihood",
        reading=f"Left of 0 is better than {reference['name']}. In each row, from above: a mark a seed; a thick line, "
        "the 95 % interval over seeds; a thin line, that over blocks of the genome. The upright stroke is the mean. A "
        "verdict needs both lines on one side of 0.",
        limits="Few seeds make wide intervals: a line across 0 means that the difference was not shown, not that "
        "there is none. It holds for this size, this amount of training and this genome.",
        alt=f"Interval chart of the difference to {reference['name']} in nats per base: {listed(told)}.",
        drawing=figure,
    )


def _row(panel: Axes, place: int, found: dict[str, Any], look: Look) -> None:
    """Nothing lies over an interval: the marks stand above both, and the mean is a stroke thinner than any."""
    seeds = found["by_seed"]
    panel.plot(seeds, [place - 0.24] * len(seeds), color=look.colour, marker=look.marker, linestyle="", markersize=4)
    for bounds, width, shift in ((found["over_seeds"], 4.5, 0.04), (found["over_blocks"], 1.5, 0.26)):
        if bounds:
            panel.plot(bounds, [place + shift] * 2, color=look.colour, linewidth=width, solid_capstyle="butt")
    panel.plot([found["value"]] * 2, [place - 0.08, place + 0.34], color=TEXT.light, linewidth=0.8, zorder=4)
