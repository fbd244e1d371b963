"""How a dataset looks in a terminal: its table, its warnings, and the bar while it is made."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset
    from dnagoat.genome.fetch.assemblies import Assembly
    from dnagoat.genome.progress import Stage


STAGES = {
    "download": "fetching",
    "index": "indexing",
    "bases": "reading",
    "windows": "tiling",
    "kmers": "comparing",
    "memory": "counting",
}


@contextmanager
def bases_bar() -> Iterator[Callable[[Stage], None]]:
    """A bar over bases (bytes of a download) on stderr; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[done]}"))
    with Progress(
        *columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bar:
        tasks: dict[str, Any] = {}
        begun: dict[str, float] = {}

        def report(at: Any) -> None:
            now = bar.get_time()
            if at.stage not in tasks:
                tasks[at.stage] = bar.add_task(STAGES[at.stage], total=1.0, done="")
                begun[at.stage] = now
            done = f"{at.done:,} bases"
            if at.stage == "download":
                whole = f" of {decimal(at.total)}" if at.total else ""
                done = f"{decimal(at.done)}{whole}, {decimal(int(at.done / max(now - begun[at.stage], 0.1)))}/s"
            bar.update(tasks[at.stage], completed=at.share, done=done)

        yield report


def count_training(dataset: Dataset, budget: float) -> None:
    """Builds the memory of a dataset within `budget` GB, under a bar; says what it leaves out."""
    from dnagoat.counts.memory.tables import open_memory
    from dnagoat_cli.terminal.notes import say

    bases = sum(int(end - start) for start, end in dataset.spans("train"))
    with bases_bar() as report:
        memory = open_memory(dataset, budget, lambda share: report(Stage("memory", int(share * bases), share)))
    if memory.left_out:
        say(f"--memory-budget {budget:g} GB leaves out {memory.left_out:,} of {bases:,} bases of the training split")


def show_catalogue(known: dict[str, Assembly], as_json: bool) -> None:
    """The genomes that have a name, with their sizes and default splits."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    if as_json:
        rows = [assembly.model_dump(mode="json") for assembly in known.values()]
        sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
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
        sys.stdout.write(json.dumps(summary(dataset), indent=2, ensure_ascii=False) + "\n")
    else:
        console = Console(highlight=False)
        console.print(str(dataset.path), style="bold", markup=False, soft_wrap=True)
        console.print(_table(dataset))
    error = Console(stderr=True, highlight=False, soft_wrap=True)
    for remark in remarks(dataset.manifest):
        error.print(f"note: {remark}", markup=False)


def _table(dataset: Dataset) -> Any:
    from rich.table import Table

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
