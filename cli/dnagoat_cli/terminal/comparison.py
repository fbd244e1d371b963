"""What a comparison shows in the terminal: one table, then the verdict in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console

from dnagoat.reporting.comparison import bases, goals
from dnagoat.reporting.numbers import large
from dnagoat.wording import counted
from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.table import Table

UNSTEADY = (
    "the speeds of one arm's seeds differ by more than a quarter, as on a machine that does other work, so no ratio is "
    "given; `dnagoat bench` measures speed"
)
STYLES = {"better": "bold green", "worse": "bold red", "not distinguishable": "yellow", "too few seeds": "dim"}


def show(result: dict[str, Any], out: Path, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_text(result))
        return
    console = Console()
    for split in ("val", "test"):
        if split in result["arms"][0]["splits"]:
            console.print(_scores(result, split))
            for pair in (("repeat", "unique"), ("early", "late")):
                if pair[0] in result["arms"][0]["splits"][split]:
                    console.print(_strata(result, split, pair))
    console.print(_costs(result))
    console.print(_reach(result))
    for warning in dict.fromkeys(_warnings(result)):
        console.print(f"note: {warning}", style="yellow")
    console.print(result["verdict"], style="bold", highlight=False)
    console.print(f"[dim]{out / 'comparison.json'}; `dnagoat report {out}` makes a page[/dim]", highlight=False)


def _columns(title: str, *columns: str, left: tuple[str, ...] = ("arm", "verdict")) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(
            column,
            justify="left" if column in left else "right",
            overflow="fold",  # a name or a number may be broken, never cut
            max_width=24 if column == "arm" else None,
        )
    return table


def _scores(result: dict[str, Any], split: str) -> Table:
    first, reference = result["arms"][0]["splits"][split]["all"], result["reference"]
    name = {"val": "Validation, which chose the checkpoints", "test": "Test"}[split]
    counts = [counted(first["count"], "base"), counted(first["blocks"], "block"), counted(len(result["seeds"]), "seed")]
    title = f"{name}: {', '.join(counts)}, nats per base"
    table = _columns(title, "arm", "NLL", "95 %", f"minus {reference}", "over seeds", "over blocks", "verdict")
    for row in result["arms"]:
        numbers = row["splits"][split]["all"]
        table.add_row(row["name"], f"{numbers['value']:.4f}", _bounds(numbers["interval"]), *_difference(numbers))
    return table


def _difference(numbers: dict[str, Any]) -> list[str]:
    found = numbers["difference"]
    if found is None:
        return ["–", "–", "–", "reference"]
    return [
        f"{found['value']:+.4f}",
        _span(found["over_seeds"]),
        _span(found["over_blocks"]),
        f"[{STYLES[found['verdict']]}]{found['verdict']}[/]",
    ]


def _strata(result: dict[str, Any], split: str, names: tuple[str, ...]) -> Table:
    """The same by kind of base, or by quarter of the window: NLL, and the difference with its verdict."""
    table = _columns(
        "", "arm", *(column for name in names for column in (name, f"minus {result['reference']} in {name}"))
    )
    for row in result["arms"]:
        cells = []
        for name in names:
            numbers = row["splits"][split][name]
            found = numbers["difference"]
            said = (
                "reference"
                if found is None
                else f"{found['value']:+.4f} [{STYLES[found['verdict']]}]{found['verdict']}[/]"
            )
            cells += [f"{numbers['value']:.4f}", said]
        table.add_row(row["name"], *cells)
    return table


def _bounds(interval: list[float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:.4f} {interval[1]:.4f}"


def _span(interval: list[float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:+.4f} {interval[1]:+.4f}"


def _costs(result: dict[str, Any]) -> Table:
    table = _columns("Cost", "arm", "rate", "weights", "of position", "bases/s", "ratio", "peak memory")
    for row in result["arms"]:
        parameters = row["parameters"]
        cuda = row["cuda_allocated_peak"]
        memory = f"{(cuda or row['resident_peak']) / 2**30:.2f} GiB {'CUDA' if cuda else 'resident'}"
        table.add_row(
            row["name"],
            f"{row['lr']:g}",
            large(parameters["all"]),
            large(parameters["position"]),
            f"{row['tokens_per_second']:,.0f}",
            "–" if row["speed_ratio"] is None else f"{row['speed_ratio']:.2f}",
            memory,
        )
    return table


def _reach(result: dict[str, Any]) -> Table:
    """Bases of training until validation was as low as this, seed by seed."""
    table = _columns("Bases of training to a validation NLL of (one number a seed)", "arm", *goals(result))
    for row in result["arms"]:
        table.add_row(row["name"], *("  ".join(map(bases, goal["by_seed"])) for goal in row["reach"]))
    return table


def _warnings(result: dict[str, Any]) -> list[str]:
    busy = any(row["speed_ratio"] is None for row in result["arms"])
    return [UNSTEADY] * busy + [
        warning
        for row in result["arms"]
        for strata in row["splits"].values()
        for numbers in strata.values()
        if numbers["difference"]
        for warning in numbers["difference"]["warnings"]
    ]
