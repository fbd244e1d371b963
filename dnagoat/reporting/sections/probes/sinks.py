"""Sinks: how much attention the first key gets, and whether by the prior, by content or by the length of its key."""

from __future__ import annotations

from dnagoat.reporting.cells import number
from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, interval, listed, percent, whole
from dnagoat.reporting.sections.probes.kind import Kind, Result, mean
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table

COLUMNS = {
    "weight": ("weight of the first key", ""),
    "strongest": ("queries it is strongest for", ""),
    "margin": ("its lead", "nats"),
    "content": ("of it content", "nats"),
    "prior": ("of it prior", "nats"),
    "key_length": ("its key's length over the others'", ""),
}


def sentence(result: Result) -> str:
    told = []
    for run in result["runs"]:
        real = [row for row in run["rows"] if row["windows"] == "real"]
        weight, length = (mean([row[name] for row in real]) for name in ("weight", "key_length"))
        told.append(
            f"{run['arm']} gives the first key {percent(weight)} of its attention with a key {length:.2f}x as long"
        )
    return f"On real windows {listed(told)} as the others."


def tables(result: Result) -> list[Table]:
    columns = [Column(name, head, unit) for name, (head, unit) in COLUMNS.items()]
    made = []
    for kind in ("real", "random"):
        rows = [
            Row(f"{run['arm']}, layer {layer + 1}", _layer_means(run, kind, layer), arm=run["arm"])
            for run in result["runs"]
            for layer in sorted({row["layer"] for row in run["rows"]})
        ]
        notes = [_replaced(run, kind) for run in result["runs"]]
        made.append(Table(f"probe-sink-{kind}", f"The first key on {kind} windows", "layer", columns, rows, notes))
    return made


def _layer_means(run: Result, kind: str, layer: int) -> list[Cell]:
    """Means over the heads of a layer."""
    heads = [row for row in run["rows"] if row["windows"] == kind and row["layer"] == layer]
    means = [mean([head[name] for head in heads]) for name in COLUMNS]
    return [number(value, 3) for value in means]


def _replaced(run: Result, kind: str) -> str:
    row = next((row for row in run["replaced"] if row["windows"] == kind), None)
    if row is None:
        return (
            f"{run['arm']}: trained without a start symbol (`dnagoat train --score-n`), so the first key is a base's; "
            "none is replaced."
        )
    beside = "; ".join(text for text in (interval(row["interval"], 5, sign=True), *row.get("warnings", ())) if text)
    return (
        f"{run['arm']}: a random base in place of the start symbol costs {decimals(row['cost'], 5, sign=True)} nats "
        f"per base{f' ({beside})' if beside else ''} over {whole(row['count'])} bases."
    )


def sink(probe: Result) -> Figure:
    """A point a head: what prior and content give the first key over its strongest rival, by kind of window."""
    styles = looks({run["arm"]: run.get("scheme") for run in probe["runs"]})
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
    weights = {run["arm"]: [row["weight"] for row in run["rows"] if row["windows"] == "real"] for run in probe["runs"]}
    leads = [f"{arm} {percent(mean(values))}" for arm, values in weights.items()]
    return Figure(
        "probe-sink",
        "What makes the first symbol a sink: the prior or the content",
        reading="One point a head: right of the dotted line the first key beats every other, far to the right by the "
        "prior, far up by content.",
        limits="A margin says who is strongest, not how much attention that takes; the table has the weights.",
        alt=f"Two scatter plots of content against prior margins; mean weight of the first key: {', '.join(leads)}.",
        drawing=figure,
    )


def headline(result: Result) -> str:
    weights = {
        run["arm"]: mean([row["weight"] for row in run["rows"] if row["windows"] == "real"]) for run in result["runs"]
    }
    most = max(weights, key=lambda arm: weights[arm])
    return f"{most} gives the first key {percent(weights[most])} of its attention"


SINK = Kind(headline, sentence, tables, sink)
