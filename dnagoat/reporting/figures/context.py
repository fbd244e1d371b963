"""Whether more context helps past the training length: NLL of the same bases by context, and NLL by position."""

from __future__ import annotations

from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, listed, whole
from dnagoat.reporting.results import Results
from dnagoat.reporting.style import MUTED, drawing, looks


def lengths(results: Results, split: str = "test") -> Figure | None:
    """Left: NLL of the same bases with 1x, 2x, ... the training length. Right: NLL along the longest stretches."""
    made = [(run, run.measures[f"lengths-{split}"]) for run in results.firsts if f"lengths-{split}" in run.measures]
    if not made:
        return None
    styles = looks(results.arms)
    training = made[0][1]["training_length"]
    with drawing():
        figure, (left, right) = canvas(1, 2, height=3.5, share_y=True)
        for run, result in made:
            look = styles[run.arm]
            rows, along = result["lengths"], result["positions"]
            xs = [row["length"] for row in rows]
            left.plot(xs, [row["value"] for row in rows], color=look.colour, marker=look.marker, label=run.arm)
            if all(row["interval"] for row in rows):
                low, high = zip(*(row["interval"] for row in rows), strict=True)
                left.fill_between(xs, low, high, color=look.colour, alpha=0.12, linewidth=0)
            middle = [(row["from"] + row["to"]) / 2 for row in along]
            right.plot(middle, [row["value"] for row in along], color=look.colour, linewidth=1.2)
        left.set_xscale("log", base=2)
        left.set_xticks(xs, [f"{x:,}\n{x / training:g}x" for x in xs])
        left.set_xlabel("context length (bases, times the training length)")
        left.minorticks_off()
        for panel in (left, right):
            panel.axvline(training, color=MUTED.light, linewidth=1, linestyle=":")
        right.set_xlabel("position in the longest stretch (bases)")
        right.locator_params(axis="x", nbins=4)
        right.xaxis.set_major_formatter("{x:,.0f}")
        left.set_ylabel("NLL (nats per base)")
        left.legend()
    ends = [
        f"{run.arm} {decimals(result['lengths'][0]['value'])} at {whole(result['lengths'][0]['length'])} and "
        f"{decimals(result['lengths'][-1]['value'])} at {whole(result['lengths'][-1]['length'])} bases"
        for run, result in made[:6]
    ]
    first = made[0][1]
    return Figure(
        "context-length",
        "Does context beyond the training length help or hurt?",
        "Context",
        reading="Left: the very same bases, scored with more and more context before them. Flat or falling is good; a "
        "line that climbs past the dotted training length is a scheme that does not extrapolate. Right: NLL along the "
        "longest stretches.",
        limits=f"{whole(first['windows'])} stretches, so the bands are wide; what matters is each line against its own "
        "beginning, since the bases are the same. On the right, other positions hold other bases: the wiggles are "
        "genome, not model, and models are to be compared at the same position.",
        alt=f"Line charts of NLL: {listed(ends)}.",
        drawing=figure,
    )
