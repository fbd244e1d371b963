"""What this machine offers, and how exact attention is on it: the tables of `dnagoat info`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dnagoat.reporting.cells import word
from dnagoat.reporting.numbers import gibibytes, whole
from dnagoat.reporting.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from dnagoat.attention.proof.parity import Parity


def devices(facts: dict[str, Any]) -> Table:
    columns = [Column("name", "Name", numeric=False), Column("cores", "Cores"), Column("memory", "Memory")]
    rows = [
        Row(
            row["device"],
            [word(row["name"]), Cell(whole(row["cores"]), row["cores"]), Cell(gibibytes(row["memory"]), row["memory"])],
        )
        for row in facts["devices"]
    ]
    return Table("devices", "Devices", "Device", columns, rows)


def kernels(facts: dict[str, Any]) -> Table:
    """Which attention kernels can be used here, or why not."""
    rows = []
    for name, fault in facts["kernels"].items():
        limit = f"up to {facts['dense_limit']:,} keys; for sparse normalisers" if name == "dense" else ""
        usable = Cell("yes", "yes", under=limit, tone="good") if fault is None else Cell("no", "no", under=fault)
        rows.append(Row(name, [usable]))
    return Table("kernels", "Attention kernels", "Kernel", [Column("usable", "Usable", numeric=False)], rows)


def parities(rows: Sequence[Parity]) -> Table:
    """The self-test: each error beside its bar; one that is missed is marked."""
    columns = [
        Column("quantity", "What", numeric=False),
        Column("precision", "Precision", numeric=False),
        Column("kernel", "Kernel", numeric=False),
        Column("error", "Error"),
        Column("bar", "At most"),
    ]
    made = [
        Row(
            row.subject,
            [
                *(word(text) for text in (row.quantity, row.precision, row.kernel)),
                Cell(f"{row.error:.1e}", row.error, tone="" if row.held else "bad"),
                Cell(f"{row.bar:.0e}", row.bar),
            ],
        )
        for row in rows
    ]
    missed = sum(not row.held for row in rows)
    title = f"Error against the explicit float64 reference, {rows[0].length:,} bases"
    note = f"{missed} of {len(rows)} missed" if missed else "all held"
    return Table("self-test", title, "Scheme", columns, made, [note])
