"""How much of the held-out data has a near-copy in training, overall and outside repeats."""

from __future__ import annotations

from dnagoat.reporting.figures.figure import Figure, canvas, legend_above
from dnagoat.reporting.numbers import percent
from dnagoat.reporting.results import Results
from dnagoat.reporting.style import MUTED, TEXT, drawing

LEVELS = {"any": "any 32-mer", "near": "near-copy", "same": "copy"}


def leaks(results: Results) -> Figure | None:
    """Bars of the share of windows that share anything, a half, or nearly all of their 32-mers with training."""
    report = results.leakage
    if report is None:
        return None
    splits = [
        split for split in ("test", "val") if (report["splits"].get(split) or {}).get("overall", {}).get("judged")
    ]
    if not splits:
        return None
    with drawing():
        figure, axes = canvas(1, len(splits), height=2.3, share_y=True)
        for panel, split in zip(axes, splits, strict=True):
            for rank, (kind, colour) in enumerate((("overall", MUTED.light), ("outside_repeats", TEXT.light))):
                for place, level in enumerate(LEVELS):
                    share = report["splits"][split][kind][level]
                    height = place + 0.38 * (rank - 0.5)
                    panel.barh(
                        height, 100 * (share or 0), height=0.34, color=colour, zorder=2, label=_legend(kind, place)
                    )
                    panel.annotate(
                        percent(share), (100 * (share or 0), height), xytext=(4, 0), textcoords="offset points",
                        va="center", fontsize=8.5,
                    )  # fmt: skip
            panel.set_title({"test": "test windows", "val": "validation windows"}[split])
            panel.set_xlim(0, min(118.0, 1.3 * panel.get_xlim()[1] + 2))
            panel.locator_params(axis="x", nbins=5)
            panel.set_xlabel("share of windows (%)")
            panel.grid(axis="y", visible=False)
        axes[0].set_yticks(range(len(LEVELS)), list(LEVELS.values()))
        axes[0].invert_yaxis()
        legend_above(figure, *axes[0].get_legend_handles_labels(), most=2)
    told = [
        f"{percent(report['splits'][split]['overall']['near'])} of {split} windows overall and "
        f"{percent(report['splits'][split]['outside_repeats']['near'])} outside repeats"
        for split in splits
    ]
    return Figure(
        "leakage",
        "Has the training split seen the test?",
        "Leak report",
        reading=f"A near-copy shares at least half of its 32-mers with training (about 98 % identity), a copy "
        f"{report['same']:.0%}. Outside repeats is what counts: repeats occur all over a genome by nature.",
        limits="Exact 32-mers miss older, more diverged copies. Learning repeats is legitimate, but a model can "
        "look good by copying them: see the strata.",
        alt=f"Bar chart of held-out windows with near-copies in training: {'; '.join(told)}.",
        drawing=figure,
    )


def _legend(kind: str, place: int) -> str | None:
    return {"overall": "all sequence", "outside_repeats": "outside repeats"}[kind] if place == 0 else None
