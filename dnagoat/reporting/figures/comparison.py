"""The verdict as a picture: each arm's paired difference to the reference, seed by seed, with both intervals."""

from __future__ import annotations

from typing import Any

from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, listed
from dnagoat.reporting.results import Results
from dnagoat.reporting.style import MUTED, drawing, looks


def differences(results: Results) -> Figure | None:
    """A panel a stratum (all bases first), a row an arm: dots are seeds, lines are the two intervals of the verdict."""
    comparison = results.comparison
    if comparison is None or len(comparison["arms"]) < 2:
        return None
    reference, *arms = comparison["arms"]
    split = "test" if "test" in reference["splits"] else "val"
    strata = list(reference["splits"][split])
    styles = looks(results.arms)
    with drawing():
        figure, axes = canvas(1, len(strata), height=1.0 + 0.42 * len(arms), share_x=True, share_y=True)
        for panel, stratum in zip(axes, strata, strict=True):
            for place, arm in enumerate(arms):
                _row(panel, place, arm["splits"][split][stratum]["difference"], styles[arm["name"]])
            panel.axvline(0, color=MUTED.light, linewidth=1)
            panel.set_title({"all": "all bases"}.get(stratum, stratum))
            panel.grid(axis="y", visible=False)
            panel.locator_params(axis="x", nbins=4)
        axes[0].set_yticks(range(len(arms)), [arm["name"] for arm in arms])
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
        reading=f"Left of 0 is better than {reference['name']}. Small marks are seeds, the large one their mean; the "
        "thick line is the 95 % interval over seeds, the thin one over blocks of the genome. A verdict needs both "
        "on one side of 0.",
        limits="Few seeds make wide intervals: a line across 0 means that the difference was not shown, not that "
        "there is none. It holds for this size, this amount of training and this genome.",
        alt=f"Interval chart of the difference to {reference['name']} in nats per base: {listed(told)}.",
        drawing=figure,
    )


def _row(panel: Any, place: int, found: dict[str, Any], look: Any) -> None:
    colour, marker = look.colour, look.marker
    for bounds, width, shift in ((found["over_seeds"], 3.5, 0.0), (found["over_blocks"], 1.2, 0.24)):
        if bounds:
            panel.plot(bounds, [place + shift] * 2, color=colour, linewidth=width, solid_capstyle="butt", alpha=0.8)
    seeds = found["by_seed"]
    panel.plot(seeds, [place - 0.2] * len(seeds), color=colour, marker=marker, linestyle="", markersize=3.5)
    panel.plot(found["value"], place, color=colour, marker=marker, markersize=8)
