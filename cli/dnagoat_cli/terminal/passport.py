"""How a dataset looks in a terminal: its table, its warnings, and the bar while it is made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.progress import show_progress

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset
    from dnagoat.genome.fetch.assemblies import Assembly
    from dnagoat.genome.progress import Stage


STAGES = {
    "download": "fetching MB",
    "index": "indexing bases",
    "bases": "reading bases",
    "windows": "tiling bases",
    "kmers": "comparing bases",
    "memory": "counting bases",
}
UNITS = {"download": 1_000_000}


@contextmanager
def bases_told() -> Iterator[Callable[[Stage], None]]:
    """A listener for what reads genomes, which tells bases (bytes of a download) and a share."""
    with show_progress() as tell:

        def report(at: Stage) -> None:
            unit = UNITS.get(at.stage, 1)
            total = at.total or (round(at.done / at.share) if at.share > 0 else 0)
            tell(STAGES[at.stage], at.done // unit, total // unit)

        yield report


def count_training(dataset: Dataset, budget: float) -> None:
    """Builds the memory of a dataset within `budget` GB, under a bar; says what it leaves out."""
    from dnagoat.counts.memory.tables import open_memory
    from dnagoat_cli.terminal.notes import say

    bases = sum(int(end - start) for start, end in dataset.spans("train"))
    with bases_told() as report:
        memory = open_memory(dataset, budget, lambda share: report(Stage("memory", int(share * bases), share)))
    if memory.left_out:
        say(f"--memory-budget {budget:g} GB leaves out {memory.left_out:,} of {bases:,} bases of the training split")


def show_catalogue(known: dict[str, Assembly], as_json: bool) -> None:
    """The genomes that have a name, with their sizes and default splits."""
    from rich import box
    from rich.console import Console

    from dnagoat_cli.terminal.table import Table

    if as_json:
        rows = [assembly.model_dump(mode="json") for assembly in known.values()]
        sys.stdout.write(json_text(rows))
        return
    table = Table(box=box.SIMPLE)
    for heading in ("name", "genome", "contigs", "bases", "validation", "test"):
        number = heading in ("contigs", "bases")
        table.add_column(heading, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for assembly in known.values():
        sizes = (f"{size:,}" if size is not None else "n/a" for size in (assembly.contigs, assembly.bases))
        table.add_row(assembly.name, assembly.title, *sizes, " ".join(assembly.val), " ".join(assembly.test))
    console = Console(highlight=False)
    console.print(table)
    for assembly in known.values():
        if assembly.note:
            console.print(f"{assembly.name}: {assembly.note}", style="dim", markup=False)


def summary(dataset: Dataset) -> dict[str, Any]:
    """What a script wants to know: the manifest without its contigs."""
    manifest = dataset.manifest.model_dump(mode="json")
    return {"path": str(dataset.path), "contigs": len(manifest.pop("contigs")), **manifest}


def show_dataset(dataset: Dataset, as_json: bool = False) -> None:
    """The dataset's table on stdout, what deserves attention on stderr."""
    from rich.console import Console

    from dnagoat.genome.passport import remarks

    if as_json:
        sys.stdout.write(json_text(summary(dataset)))
    else:
        console = Console(highlight=False)
        console.print(str(dataset.path), style="bold", markup=False, soft_wrap=True)
        console.print(_table(dataset))
    error = Console(stderr=True, highlight=False, soft_wrap=True)
    for remark in remarks(dataset.manifest):
        error.print(f"note: {remark}", markup=False)


def _table(dataset: Dataset) -> Any:
    from dnagoat_cli.terminal.table import Table

    tally = dataset.manifest.tally
    known = tally.bases - tally.n
    table = Table(box=None, show_header=False, padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column(justify="right", style="dim")
    table.add_row("contigs", f"{len(dataset.manifest.contigs):,}", "")
    table.add_row("bases", f"{tally.bases:,}", "")
    table.add_row("N", f"{tally.n:,}", _share(tally.n, tally.bases))
    table.add_row("soft-masked", f"{tally.masked:,}", _share(tally.masked, tally.bases))
    table.add_row("GC", f"{tally.gc:,}", f"{_share(tally.gc, known)} of ACGT")
    for split, count in tally.windows.items():
        table.add_row(f"{split} windows", f"{count:,}", f"of {dataset.window:,} bases")
    table.add_row("content", dataset.content_hash[:16], "")
    return table


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "n/a"
