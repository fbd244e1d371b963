"""Extrapolation: NLL of the same bases with more context than in training, a line a run."""

from __future__ import annotations

from dnagoat.reporting.cells import estimate
from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, listed, whole
from dnagoat.reporting.sections.probes.kind import Kind, Result, mean
from dnagoat.reporting.style import GRID, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table


def sentence(result: Result) -> str:
    told = []
    for arm in result["arms"]:
        first, last = ([seed["lengths"][place]["value"] for seed in arm["seeds"]] for place in (0, -1))
        told.append(f"{arm['arm']} goes from {decimals(mean(first))} to {decimals(mean(last))}")
    lengths = result["arms"][0]["seeds"][0]["lengths"]
    near, far = (lengths[place]["factor"] for place in (0, -1))
    return f"From {near:g}x to {far:g}x the training length, {listed(told)} nats per base."


def tables(result: Result) -> list[Table]:
    lengths = result["arms"][0]["seeds"][0]["lengths"]
    columns = [Column(f"b{row['length']}", f"{whole(row['length'])} ({row['factor']:g}x)", "nats") for row in lengths]
    rows = [
        Row(f"{arm['arm']}, seed {seed['seed']}", _nats(seed), arm=arm["arm"])
        for arm in result["arms"]
        for seed in arm["seeds"]
    ]
    notes = [
        f"The same {whole(lengths[0]['count'])} bases of the {result['split']} split in every column.",
        *(f"⚠ {text}." for text in result.get("warnings", ())),
    ]
    return [Table("probe-extrapolate", "NLL by length of context", "run", columns, rows, notes)]


def extrapolate(probe: Result) -> Figure:
    """NLL of the same bases against the length of the context, a line a run."""
    styles = looks({arm["arm"]: arm.get("scheme") for arm in probe["arms"]})
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
        reading="A falling line gains from context, a rising one is hurt by it: every point scores the same bases.",
        limits="One line a seed; only how much comes before the bases changes. One way of training: an arm that was "
        "trained at longer lengths may behave otherwise.",
        alt=f"Line chart of NLL against length; at the longest length {', '.join(ends)}.",
        drawing=figure,
    )


def _nats(seed: Result) -> list[Cell]:
    return [estimate(row["value"], row["interval"]) for row in seed["lengths"]]


def headline(result: Result) -> str:
    def change(arm: Result) -> float:
        first, last = ([seed["lengths"][place]["value"] for seed in arm["seeds"]] for place in (0, -1))
        return mean(last) - mean(first)

    best = min(result["arms"], key=change)
    times = best["seeds"][0]["lengths"][-1]["factor"]
    return f"{best['arm']} changes least for the worse at {times:g}x: {decimals(change(best), sign=True)} nats per base"


EXTRAPOLATE = Kind(headline, sentence, tables, extrapolate)
