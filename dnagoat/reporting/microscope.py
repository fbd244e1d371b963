"""What `inspect` found in a run, as tables and figures: shape of the prior, content against it, waves, ablations."""

from __future__ import annotations

from typing import Any

from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, interval, percent, whole
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table

Result = dict[str, Any]

HEAD_COLUMNS = (
    Column("reach_half", "half of the prior within", "bases"),
    Column("reach_95", "95 % within", "bases"),
    Column("divergence", "KL from uniform", "nats"),
    Column("slope", "recency slope", "nats/base"),
    Column("sink_lead", "sink, first over median", "nats"),
    Column("omega", "content range omega", "nats"),
    Column("tightness", "of the bound used", "share"),
    Column("moved", "KL attention from prior", "nats"),
    Column("first_weight", "weight of the first key", "share"),
    Column("first_prior", "prior's share of it", "share"),
)


def tables(result: Result) -> list[Table]:
    """Heads, ablations, and the waves of a spectral part."""
    made = [heads(result), ablations(result)]
    return made + ([waves(result)] if result["checkpoints"][-1]["waves"] else [])


def heads(result: Result) -> Table:
    """One row a head, at the last checkpoint kept; content columns are of the checkpoint that was asked for."""
    content = {(row["layer"], row["head"]): row for row in result["rows"]}
    rows = []
    for layer in result["checkpoints"][-1]["layers"]:
        for head in layer["heads"]:
            values = head | content[layer["layer"], head["head"]]
            cells = [_cell(column, values[column.key]) for column in HEAD_COLUMNS]
            rows.append(Row(f"layer {layer['layer'] + 1}, head {head['head'] + 1}", cells))
    momentum = [layer["momentum"] for layer in result["checkpoints"][-1]["layers"]]
    notes = [
        f"Prior: the last query of {whole(result['context'])} bases. Content: {whole(result['windows'])} real windows "
        f"of {whole(result['window'])} bases; omega and tightness are medians, the others means."
    ]
    if any(strength is not None for strength in momentum):
        notes.append(f"Momentum by layer: {', '.join('none' if g is None else f'{g:.3g}' for g in momentum)}.")
    return Table(
        "inspect-heads", "Every head: its prior, and content against it", "head", list(HEAD_COLUMNS), rows, notes
    )


def _cell(column: Column, value: float | None) -> Cell:
    if column.unit == "bases":
        return Cell(whole(value), value)
    return Cell(percent(value) if column.unit == "share" else decimals(value, 3), value)


def ablations(result: Result) -> Table:
    """NLL as trained and without each part."""
    columns = [Column("value", "NLL", "nats per base"), Column("cost", "more than as trained", "nats per base")]
    rows = []
    for row in result["ablations"]:
        low, high = row.get("interval") or (None, None)
        cost = Cell(
            decimals(row.get("cost"), 4, sign=True), row.get("cost"), low, high, interval(row.get("interval"), 4)
        )
        rows.append(
            Row(
                "as trained" if row["without"] is None else f"without {row['without']}",
                [Cell(decimals(row["value"]), row["value"]), cost],
            )
        )
    note = (
        f"At inference on {whole(result['ablations'][0]['count'])} bases, paired by window; a part that was trained in "
        "is missed more than one that was never there."
    )
    return Table("inspect-ablations", "What each part is worth to this model", "model", columns, rows, [note])


def waves(result: Result) -> Table:
    """One row a wave of the spectral part, over all heads."""
    columns = [
        Column("amplitude", "amplitude", "nats"),
        Column("moved", "moved in training", "nats"),
        Column("mean_rank", "mean rank of movement"),
        Column("p", "p of that rank"),
    ]
    rows = [
        Row(f"{wave['period']:.4g} bases", [Cell(decimals(wave[c.key], 3), wave[c.key]) for c in columns])
        for wave in result["checkpoints"][-1]["waves"]
    ]
    note = "p: how often the waves of shuffled heads reach this mean rank, paid for looking at all waves."
    return Table("inspect-waves", "Which waves moved in head after head", "period", columns, rows, [note])


def figures(result: Result) -> list[Figure]:
    """How reach and divergence went over training; a run with one checkpoint has its start and its end."""
    with drawing():
        figure, axes = canvas(1, 2, height=3.2)
        steps = [checkpoint["step"] for checkpoint in result["checkpoints"]]
        styles = looks([f"layer {layer['layer'] + 1}" for layer in result["checkpoints"][0]["layers"]])
        for place, (name, look) in enumerate(styles.items()):
            for head in range(len(result["checkpoints"][0]["layers"][place]["heads"])):
                along = [checkpoint["layers"][place]["heads"][head] for checkpoint in result["checkpoints"]]
                label = name if head == 0 else None
                for panel, key in zip(axes, ("reach_half", "divergence"), strict=True):
                    panel.plot(
                        steps, [point[key] for point in along], color=look.colour, marker=look.marker, label=label
                    )
        axes[0].set_ylabel("half of the prior within (bases)")
        axes[1].set_ylabel("KL of the prior from uniform (nats)")
        axes[0].axhline(result["context"] / 2, color=MUTED.light, linestyle=":")
        for panel in axes:
            panel.set_xlabel("training step")
        axes[0].legend()
    last = result["checkpoints"][-1]["layers"]
    nearest = min(head["reach_half"] for layer in last for head in layer["heads"])
    farthest = max(head["reach_half"] for layer in last for head in layer["heads"])
    return [
        Figure(
            "inspect-training",
            "How far the heads' priors reach, over training",
            "Prior",
            reading="One line a head. Step 0 is the start; the dotted line is a uniform prior's.",
            limits="The prior alone: content moves attention away from it by up to omega nats in either direction.",
            alt=f"Line charts over training; at the end half of the prior lies within {nearest} to {farthest} bases.",
            drawing=figure,
        )
    ]
