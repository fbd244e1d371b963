"""What probes found: recall by depth and length, induction by strength, NLL by length, sinks by content and prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, percent, whole
from dnagoat.reporting.style import GRID, MUTED, drawing, looks

Result = dict[str, Any]
SECTION = "Probes"


def figure_of(probe: Result) -> Figure:
    """The figure of one probe's result."""
    return DRAWN[probe["probe"]](probe)


def recall(probe: Result) -> Figure:
    """A panel an arm: lengths across, depths down, the share of keys recalled as colour and number."""
    arms = probe["arms"]
    lengths = list(dict.fromkeys(cell["length"] for cell in arms[0]["cells"]))
    depths = list(dict.fromkeys(cell["depth"] for cell in arms[0]["cells"]))
    with drawing():
        figure, axes = canvas(len(arms), 1, height=0.6 + 1.9 * len(arms), share_x=True)
        for panel, arm in zip(axes, arms, strict=True):
            shares = [[cell["value"] for cell in arm["cells"] if cell["depth"] == depth] for depth in depths]
            image = panel.imshow(shares, vmin=0, vmax=1, cmap="cividis", aspect="auto")
            for row, line in enumerate(shares):
                for column, value in enumerate(line):
                    ink = "black" if value > 0.6 else "white"
                    panel.text(column, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=8.5, color=ink)
            panel.set_title(arm["arm"])
            panel.grid(visible=False)
            panel.set_yticks(range(len(depths)), [f"{depth:g}" for depth in depths])
            panel.set_ylabel("depth of the key")
        ticks = [f"{whole(length)}\n{length / probe['length']:g}x" for length in lengths]
        axes[-1].set_xticks(range(len(lengths)), ticks)
        axes[-1].set_xlabel("length of the sequence (bases, and times the training length)")
        figure.colorbar(image, ax=list(axes), label="keys recalled (share)", fraction=0.04)
    ends = [f"{arm['arm']} {percent(arm['lengths'][-1]['value'], 0)}" for arm in arms]
    return Figure(
        f"probe-{probe['probe']}",
        f"Who still finds the {probe['probe']}, and how far past the training length",
        SECTION,
        reading="Each field is the percentage of sequences whose whole key was said right. Depth 0 puts the key at the "
        f"start, farthest from the question; 1 next to it. A guess is right in {percent(probe['chance'], 2)}.",
        limits="Small models trained for this task alone: it shows what a scheme allows, not what a genome model does. "
        "A preference for near bases helps at depth 1 and hurts at depth 0.",
        alt=f"Heat maps of recall by depth and length; at the longest length {', '.join(ends)}.",
        drawing=figure,
    )


def induction(probe: Result) -> Figure:
    """Accuracy against the strength g, a line for each placement, depth and recipe."""
    lines = _lines(probe["rows"])
    styles = looks([name for name, _ in lines])
    with drawing():
        figure, (axes,) = canvas(height=3.4)
        for name, rows in lines:
            look = styles[name]
            low, high = ([row["interval"][side] for row in rows] for side in (0, 1))
            strengths = [row["strength"] for row in rows]
            axes.plot(
                strengths,
                [row["value"] for row in rows],
                color=look.colour,
                marker=look.marker,
                label=name,
                ls=look.dash,
            )
            axes.fill_between(strengths, low, high, color=look.colour, alpha=0.15, linewidth=0)
        axes.axhline(probe["chance"], color=MUTED.light, linestyle=":", label="guess")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("strength g of the momentum")
        axes.set_ylabel("repeated symbols predicted (share)")
        axes.legend()
    best = max(probe["rows"], key=lambda row: row["value"])
    return Figure(
        "probe-induction",
        "Does momentum let one layer do induction?",
        SECTION,
        reading="Accuracy on symbols that only the pattern A B ... A -> B decides. At g = 0 there is no momentum. "
        "Shading is the 95 % interval over test sequences.",
        limits="The interval does not cover the training seed. The stretch returns at random distances; where "
        "it always returns after the same distance, plain RoPE solves the task by position alone.",
        alt=f"Line chart of accuracy against g; the best is {percent(best['value'])} at g = {best['strength']:g}.",
        drawing=figure,
    )


def _lines(rows: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Rows of one line together, under its name; the row without momentum begins every placement's line."""

    def named(row: Result) -> str:
        layers = f"{row['layers']} layer{'s'[: row['layers'] > 1]}"
        recipe = "" if row["recipe"] == "none" else ", lr / 3"
        return f"{layers}, {row['placement']} the rotation{recipe}"

    lines = [(name, list(group)) for name, group in groupby(rows, named)]
    start: Result | None = None
    whole_lines = []
    for name, group in lines:
        start = group[0] if group[0]["strength"] == 0 else start
        joined = group if group[0]["strength"] == 0 or start is None else [start, *group]
        whole_lines.append((name, joined))
    return whole_lines


def extrapolate(probe: Result) -> Figure:
    """NLL of the same bases against the length of the context, a line a run."""
    styles = looks([arm["arm"] for arm in probe["arms"]])
    with drawing():
        figure, (axes,) = canvas(height=3.4)
        for arm in probe["arms"]:
            look = styles[arm["arm"]]
            for index, seed in enumerate(arm["seeds"]):
                axes.plot(
                    [row["length"] for row in seed["lengths"]],
                    [row["value"] for row in seed["lengths"]],
                    color=look.colour,
                    marker=look.marker,
                    label=None if index else arm["arm"],
                )
        axes.axvline(probe["training_length"], color=GRID.light, linewidth=1.2, zorder=0)
        axes.set_xscale("log", base=2)
        lengths = [row["length"] for row in probe["arms"][0]["seeds"][0]["lengths"]]
        axes.set_xticks(lengths, [whole(length) for length in lengths])
        axes.minorticks_off()
        axes.set_xlabel("bases of context that end at the scored ones (upright line: training length)")
        axes.set_ylabel("NLL of the same bases (nats per base)")
        axes.legend()
    ends = [f"{arm['arm']} {decimals(arm['seeds'][0]['lengths'][-1]['value'])}" for arm in probe["arms"]]
    return Figure(
        "probe-extrapolate",
        "What context past the training length does to each arm",
        SECTION,
        reading="Every point scores the same bases; only how much comes before them changes. A falling line gains from "
        "context, a rising one is hurt by it. One line a seed.",
        limits="One way of training: an arm that was trained at longer lengths may behave otherwise.",
        alt=f"Line chart of NLL against length; at the longest length {', '.join(ends)}.",
        drawing=figure,
    )


def sink(probe: Result) -> Figure:
    """A point a head: what prior and content give the first key over its strongest rival, by kind of window."""
    styles = looks([run["arm"] for run in probe["runs"]])
    with drawing():
        figure, axes = canvas(1, 2, height=3.6, share_x=True, share_y=True)
        for panel, kind in zip(axes, ("real", "random"), strict=True):
            for run in probe["runs"]:
                rows = [row for row in run["rows"] if row["windows"] == kind]
                look = styles[run["arm"]]
                panel.scatter(
                    [row["prior"] for row in rows],
                    [row["content"] for row in rows],
                    color=look.colour,
                    marker=look.marker,
                    label=run["arm"],
                    s=24,
                    alpha=0.85,
                )
            panel.axline((0, 0), slope=-1, color=MUTED.light, linestyle=":")
            panel.set_title(f"{kind} windows")
            panel.set_xlabel("lead by prior (nats)")
        axes[0].set_ylabel("lead by content (nats)")
        axes[0].legend()
    leads = [f"{run['arm']} {percent(_mean(run, 'weight'))}" for run in probe["runs"]]
    return Figure(
        "probe-sink",
        "What makes the first symbol a sink: the prior or the content",
        SECTION,
        reading="One point a head, averaged over queries. Right of the dotted line the first key beats every other; "
        "far to the right it does so by the prior, far up by content.",
        limits="A margin says who is strongest, not how much attention that takes; the table has the weights.",
        alt=f"Two scatter plots of content against prior margins; mean weight of the first key: {', '.join(leads)}.",
        drawing=figure,
    )


def _mean(run: Result, name: str) -> float:
    values = [row[name] for row in run["rows"] if row["windows"] == "real"]
    return float(sum(values) / len(values))


DRAWN: dict[str, Callable[[Result], Figure]] = {
    "passkey": recall,
    "needle": recall,
    "induction": induction,
    "extrapolate": extrapolate,
    "sink": sink,
}
