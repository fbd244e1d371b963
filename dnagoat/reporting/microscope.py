"""What `inspect` found in a run, as tables and figures: shape of the prior, content against it, waves, ablations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, interval, percent, whole
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table

Result = dict[str, Any]

PRIOR_COLUMNS = (
    Column("reach_half", "half of the prior within", "bases"),
    Column("reach_95", "95 % within", "bases"),
    Column("divergence", "KL from uniform", "nats"),
    Column("slope", "recency slope", "nats/base"),
    Column("sink_lead", "sink, first over median", "nats"),
)
CONTENT_COLUMNS = (
    Column("omega", "content range omega", "nats"),
    Column("tightness", "of the bound used", "share"),
    Column("moved", "KL attention from prior", "nats"),
    Column("first_weight", "weight of the first key", "share"),
    Column("first_prior", "prior's share of it", "share"),
)


def tables(result: Result) -> list[Table]:
    """Heads, ablations, and the waves of a spectral part."""
    made = [priors(result), contents(result), ablations(result)]
    return made + ([waves(result)] if result["checkpoints"][-1]["waves"] else [])


def priors(result: Result) -> Table:
    """One row a head: its prior at the last checkpoint kept, for the last query of the training length."""
    layers = result["checkpoints"][-1]["layers"]
    rows = [_head(layer["layer"], head, PRIOR_COLUMNS) for layer in layers for head in layer["heads"]]
    notes = [
        f"Prior of the last of {whole(result['context'])} queries, at step {whole(result['checkpoints'][-1]['step'])}."
    ]
    if any(layer["momentum"] is not None for layer in layers):
        strengths = ["none" if layer["momentum"] is None else f"{layer['momentum']:.3g}" for layer in layers]
        notes.append(f"Momentum by layer: {', '.join(strengths)}.")
    return Table("inspect-priors", "Where each head looks before it reads", "head", list(PRIOR_COLUMNS), rows, notes)


def contents(result: Result) -> Table:
    """One row a head: content against prior on real windows."""
    rows = [_head(row["layer"], row, CONTENT_COLUMNS) for row in result["rows"]]
    note = (
        f"{whole(result['windows'])} real windows of {whole(result['window'])} bases; omega and tightness are medians "
        "over queries, the others means. Attention is between prior x exp(-omega) and prior x exp(omega)."
    )
    return Table("inspect-content", "How far content moves attention", "head", list(CONTENT_COLUMNS), rows, [note])


def _head(layer: int, head: Result, columns: Sequence[Column]) -> Row:
    return Row(f"layer {layer + 1}, head {head['head'] + 1}", [_cell(column, head[column.key]) for column in columns])


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
    note = (
        "p: how often the waves of shuffled heads reach this mean rank, paid for looking at all waves. A wave may move "
        "for reasons that have nothing to do with its period in DNA: long ones can stand in for a slope."
    )
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
