"""A table of who copies from its context: what reading a stretch a second time gains, beside a random stretch's."""

from __future__ import annotations

from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.numbers import UNKNOWN, decimals, interval, whole
from dnagoat.reporting.results import Result, Results
from dnagoat.reporting.table import Cell, Column, Table
from dnagoat.reporting.tables import row_of

# What stood before the stretch, in the words of the result.
OTHER, COPY, REVERSE = "another stretch", "its copy", "its reverse complement"


def copying(results: Results, warnings: Warnings, split: str = "test") -> Table | None:
    """Gains over the same stretch after another one, for the shortest and the longest stretch."""
    made = results.having(f"copying-{split}")
    if not made:
        return None
    sizes = sorted({row["length"] for row in made[0][1]["rows"]})
    shown = list(dict.fromkeys((sizes[0], sizes[-1])))
    asked = [(size, stretch, COPY) for size in shown for stretch in ("real", "random")] + [(shown[-1], "real", REVERSE)]
    columns = [
        Column(f"{stretch}_{size}_{before.split()[-1]}", f"{size:,} {stretch} bases, {before}", "nats per base gained")
        for size, stretch, before in asked
    ]
    rows = [
        row_of(results, run, [_gain(result, *which) for which in asked], warnings.of(run, "copying"))
        for run, result in made
    ]
    note = (
        f"{whole(made[0][1]['windows'])} stretches, each scored after another stretch, after itself and after its "
        "reverse complement, with the same positions. Who looks earlier occurrences up gains nearly the whole NLL; who "
        "knows the repeats of the training split by heart gains nothing."
    )
    return Table("copying", "Copying from the context", "Model", columns, rows, [note])


def _gain(result: Result, size: int, stretch: str, before: str) -> Cell:
    wanted = (size, stretch, before)
    found = (row for row in result["rows"] if (row["length"], row["stretch"], row["before"]) == wanted)
    row = next(found, None)
    if row is None:
        return Cell(UNKNOWN)
    low, high = row["gain_interval"]
    return Cell(decimals(row["gain"], 3), row["gain"], low, high, interval((low, high), 3))
