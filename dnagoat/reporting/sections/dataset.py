"""What a dataset holds and which genomes have a name: the tables of `prepare` and `inspect`."""

from __future__ import annotations

from collections.abc import Iterable

from dnagoat.genome.dataset import Dataset
from dnagoat.genome.fetch.assemblies import Assembly
from dnagoat.reporting.cells import word
from dnagoat.reporting.numbers import percent, whole
from dnagoat.reporting.table import Cell, Column, Row, Table


def passport(dataset: Dataset) -> Table:
    """Contigs, bases of each kind and windows of each split."""
    tally = dataset.manifest.tally
    known = tally.bases - tally.n
    rows = [
        _count("contigs", len(dataset.manifest.contigs)),
        _count("bases", tally.bases),
        _count("N", tally.n, _share(tally.n, tally.bases)),
        _count("soft-masked", tally.masked, _share(tally.masked, tally.bases)),
        _count("GC", tally.gc, f"{_share(tally.gc, known)} of ACGT"),
        *(_count(f"{split} windows", count, f"of {dataset.window:,} bases") for split, count in tally.windows.items()),
        Row("content", [Cell(dataset.content_hash[:16], dataset.content_hash), Cell("")]),
    ]
    columns = [Column("count", "How many"), Column("share", "Of which", numeric=False)]
    return Table("dataset", str(dataset.path), "What", columns, rows)


def _count(name: str, count: int, beside: str = "") -> Row:
    return Row(name, [Cell(whole(count), count), Cell(beside, beside)])


def _share(part: int, of: int) -> str:
    return percent(part / of if of else None, 2)


def catalogue(known: Iterable[Assembly]) -> Table:
    """The genomes that have a name, with their sizes and default splits."""
    columns = [
        Column("genome", "Genome", numeric=False),
        Column("contigs", "Contigs"),
        Column("bases", "Bases"),
        Column("val", "Validation", numeric=False),
        Column("test", "Test", numeric=False),
    ]
    assemblies = list(known)
    rows = [
        Row(
            assembly.name,
            [
                word(assembly.title),
                *(Cell(whole(size), size) for size in (assembly.contigs, assembly.bases)),
                *(word(" ".join(names)) for names in (assembly.val, assembly.test)),
            ],
        )
        for assembly in assemblies
    ]
    notes = [f"{assembly.name}: {assembly.note}" for assembly in assemblies if assembly.note]
    return Table("catalogue", "Genomes that have a name", "Name", columns, rows, notes)
