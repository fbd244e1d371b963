"""Induction: how many repeated symbols are predicted, by strength of momentum, and which terms of the score do it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.numbers import decimals, percent
from dnagoat.reporting.sections.probes.kind import SEED_NOTE, Kind, Result, rate
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted


def sentence(result: Result) -> str:
    first = min(result["rows"], key=lambda row: row["strength"])
    best = max(result["rows"], key=lambda row: row["value"])
    without = "Without momentum" if first["strength"] == 0 else f"At g = {first['strength']:g}"
    return (
        f"{without}, {counted(first['layers'], 'layer')} predicts {percent(first['value'])} of the repeated symbols; "
        f"the best, {_called(best)} the rotation, {percent(best['value'])}."
    )


def tables(result: Result) -> list[Table]:
    columns = [
        Column("accuracy", "predicted", "share"),
        *(Column(name, f"{name} signal", "sd") for name in ("q.k", "p.k", "q.p", "p.p")),
    ]
    rows = [Row(_called(row), [rate(row), *_signals(row)]) for row in result["rows"]]
    note = (
        "Signal: how far the answer's key stands above the others by that term alone, in their standard deviations; "
        "of the model of seed 0."
    )
    made = [Table("probe-induction", "Induction by strength of momentum", "model", columns, rows, [SEED_NOTE, note])]
    return made + [_law(law) for law in result["laws"]]


def _called(row: Result) -> str:
    recipe = "" if row["recipe"] == "none" else ", recipe momentum"
    return f"{counted(row['layers'], 'layer')}, g {row['strength']:g} {row['placement']}{recipe}"


def _signals(row: Result) -> list[Cell]:
    if row["terms"] is None:
        return [Cell("n/a")] * 4
    return [
        Cell(decimals(term["signal"], 2), term["signal"], under=f"rms {decimals(term['magnitude'], 2)}")
        for term in row["terms"]
    ]


def _law(law: Result) -> Table:
    rows = [
        Row(counted(layers, "layer"), [Cell(f"{best:g}", best)])
        for layers, best in zip(law["layers"], law["best"], strict=True)
    ]
    note = f"g* = {law['factor']:.2f} N^-{law['exponent']:.2f}; the literature has N^-0.74"
    return Table(
        f"probe-induction-law-{law['recipe']}", "Best strength by depth", "depth", [Column("g", "g*")], rows, [note]
    )


def induction(probe: Result) -> Figure:
    """Accuracy against the strength g, a line for each placement, depth and recipe."""
    lines = _lines(probe["rows"])
    styles = looks(dict.fromkeys(name for name, _ in lines))
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
        reading="Higher is better, on symbols that only the pattern A B ... A -> B decides; at g = 0 there is no "
        "momentum.",
        limits="Shading is the 95 % interval over test sequences. The interval does not cover the training seed. The "
        "stretch returns at random distances; where it always returns after the same distance, plain RoPE solves the "
        "task by position alone.",
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


def headline(result: Result) -> str:
    best = max(result["rows"], key=lambda row: row["value"])
    said = f"{counted(best['layers'], 'layer')} with momentum {best['strength']:g}"
    return f"{said} predicts {percent(best['value'], 0)} of the repeated symbols"


INDUCTION = Kind(headline, sentence, tables, induction)
