"""How a dataset looks in a terminal: its table, its warnings, and the bar while it is made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset
    from dnagoat.genome.fetch.assemblies import Assembly
    from dnagoat.progress import Stage


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
    from dnagoat_cli.terminal.bar import say

    bases = sum(int(end - start) for start, end in dataset.spans("train"))
    with bases_told() as report:
        memory = open_memory(dataset, budget, lambda share: report(Stage("memory", int(share * bases), share)))
    if memory.left_out:
        say(f"--memory-budget {budget:g} GB leaves out {memory.left_out:,} of {bases:,} bases of the training split")


def show_catalogue(known: dict[str, Assembly], as_json: bool) -> None:
    """The genomes that have a name, with their sizes and default splits."""
    from rich.console import Console

    from dnagoat.reporting.sections.dataset import catalogue
    from dnagoat_cli.terminal.grid import draw_table

    if as_json:
        rows = [assembly.model_dump(mode="json") for assembly in known.values()]
        sys.stdout.write(json_text(rows))
        return
    draw_table(catalogue(known.values()), Console(highlight=False))


def summary(dataset: Dataset) -> dict[str, Any]:
    """What a script wants to know: the manifest without its contigs."""
    manifest = dataset.manifest.model_dump(mode="json")
    return {"path": str(dataset.path), "contigs": len(manifest.pop("contigs")), **manifest}


def show_dataset(dataset: Dataset, as_json: bool = False) -> None:
    """The dataset's table on stdout, what deserves attention on stderr."""
    from rich.console import Console

    from dnagoat.genome.passport import remarks
    from dnagoat.reporting.sections.dataset import passport
    from dnagoat_cli.terminal.grid import draw_table

    if as_json:
        sys.stdout.write(json_text(summary(dataset)))
    else:
        draw_table(passport(dataset), Console(highlight=False))
    error = Console(stderr=True, highlight=False, soft_wrap=True)
    for remark in remarks(dataset.manifest):
        error.print(f"note: {remark}", markup=False)
