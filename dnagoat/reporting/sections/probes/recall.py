"""Passkey and needle: how many of the keys are recalled, by depth and by length past that of training."""

from __future__ import annotations

from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.numbers import listed, percent, whole
from dnagoat.reporting.sections.probes.kind import SEED_NOTE, Kind, Result, rate
from dnagoat.reporting.style import drawing
from dnagoat.reporting.table import Column, Row, Table

DEPTH_NOTE = "Depth 0 puts the key at the start, farthest from the question; 1 next to it. The same shares, not pooled."


def sentence(result: Result) -> str:
    told = []
    for arm in result["arms"]:
        first, end = (arm["lengths"][place] for place in (0, -1))
        near = f" ({percent(first['value'], 0)} at {first['times']}x)" if first != end else ""
        told.append(f"{arm['arm']} recalls {percent(end['value'], 0)} of the keys{near}")
    times = result["arms"][0]["lengths"][-1]["times"]
    return f"At {times}x the training length of {whole(result['length'])} bases, {listed(told)}."


def tables(result: Result) -> list[Table]:
    columns = [
        Column(f"x{row['times']}", f"{whole(row['length'])} ({row['times']}x)") for row in result["arms"][0]["lengths"]
    ]
    name, task = f"probe-{result['probe']}", result["probe"]
    note = f"{result['unit']}; 95 % Wilson intervals; a guess: {percent(result['chance'], 2)}"
    pooled = [Row(arm["arm"], [rate(row) for row in arm["lengths"]], arm=arm["arm"]) for arm in result["arms"]]
    by_depth = [
        Row(f"{arm['arm']}, depth {depth:g}", [rate(cell) for cell in cells], arm=arm["arm"])
        for arm in result["arms"]
        for depth, cells in _by_depth(arm)
    ]
    notes = [f"Over all depths: {note}", SEED_NOTE]
    return [
        Table(name, f"Recall by length: {task}", "arm", columns, pooled, notes),
        Table(
            f"{name}-depths", f"Recall by depth and length: {task}", "arm", columns, by_depth, [DEPTH_NOTE, SEED_NOTE]
        ),
    ]


def _by_depth(arm: Result) -> list[tuple[float, list[Result]]]:
    """The cells of each depth, by length."""
    depths = dict.fromkeys(cell["depth"] for cell in arm["cells"])
    return [(depth, [cell for cell in arm["cells"] if cell["depth"] == depth]) for depth in depths]


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
        reading="Each field is the percentage of sequences whose whole key was said right; a guess is right in "
        f"{percent(probe['chance'], 2)}.",
        limits="Depth 0 puts the key at the start, farthest from the question; 1 next to it. Small models trained for "
        "this task alone: it shows what a scheme allows, not what a genome model does. "
        "A preference for near bases helps at depth 1 and hurts at depth 0.",
        alt=f"Heat maps of recall by depth and length; at the longest length {', '.join(ends)}.",
        drawing=figure,
    )


def headline(result: Result) -> str:
    best = max(result["arms"], key=lambda arm: float(arm["lengths"][-1]["value"]))["lengths"][-1]
    name = next(arm["arm"] for arm in result["arms"] if arm["lengths"][-1] is best)
    return f"{name} recalls {percent(best['value'], 0)} of the keys at {best['times']}x the training length"


RECALL = Kind(headline, sentence, tables, recall)
