"""What a report needs before it is written and how it looks in a terminal: missing measures, tables, the verdict."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from dnagoat.evaluation.measures import MeasureOptions
    from dnagoat.evaluation.measures import Progress as Report
    from dnagoat.reporting.report import Report as Made
    from dnagoat.reporting.table import Table as Numbers
    from dnagoat.runs import Run

WANTED = (("nll", "val"), ("nll", "test"), ("prior", "test"), ("generation", "test"))


def measured(
    runs: Sequence[Run],
    *,
    device: str = "auto",
    batch_size: int = 64,
    skip: Sequence[str] = (),
    options: MeasureOptions | None = None,
) -> None:
    """Computes what the report shows and a run does not have, and keeps it there; stored results stay as they are."""
    from dnagoat.errors import WindowError
    from dnagoat.evaluation.measures import MeasureOptions, ensure, stored

    base = (options or MeasureOptions()).but(device=_present(device), batch_size=batch_size)
    with progress() as task:
        for run in runs:
            for name, split in WANTED:
                asked = base.but(split=split)
                if name in skip or stored(run, name, asked) is not None:
                    continue
                try:
                    ensure(run, name, asked, progress=task(f"{run.name}: {name} {split}"))
                except WindowError as fault:  # no such split: its numbers are n/a
                    Console(stderr=True).print(f"note: {fault}", highlight=False, soft_wrap=True)


def _present(device: str) -> str:
    if device != "auto":
        return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@contextmanager
def progress() -> Iterator[Callable[[str], Report]]:
    """A maker of progress bars on standard error, one a measure; nothing is drawn where it is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[what]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:

        def task(label: str) -> Report:
            bar = bars.add_task(label, total=None, what="")
            return lambda what, done, total: bars.update(bar, completed=done, total=total, what=what)

        yield task


def repeated(runs: Sequence[Path], out: Path) -> str:
    """The command that makes this report again."""
    return shlex.join(["dnagoat", "report", *map(str, runs), "--out", str(out)])


def show(made: Made, page: Path, as_json: bool = False) -> None:
    """The verdict and the first tables, measures down and models across; the page's path last."""
    if as_json:
        sys.stdout.write(json.dumps(made.as_dict(), indent=2, ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False)
    for numbers in made.tables:
        console.print(_table(numbers))
    console.print(f"[bold]{made.verdict.sentence}[/bold]")
    for remark in made.verdict.remarks:
        console.print(f"  • {remark}", markup=False)
    console.print()
    console.print(f"report: {page}", markup=False, soft_wrap=True)


def _table(numbers: Numbers) -> Table:
    head, *body = numbers.transposed()
    table = Table(title=numbers.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, name in enumerate(head):
        table.add_column(name, justify="right" if index else "left", no_wrap=index > 0)
    for row in body:
        table.add_row(*row)
    return table
