"""How far long work is, on standard error: bars in a terminal, now and then a line elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from dnagoat.progress import Progress as Report

EVERY = 30.0  # seconds between lines where no bar is drawn


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[Report]:
    """Yields what the library calls with (what, done, total): a bar for each `what`, the newest below."""
    console = Console(stderr=True, quiet=quiet)
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console) as drawn:
        bars: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = drawn.add_task(what, total=None)
            drawn.update(bars[what], completed=done, total=total or None)

        yield report


class _Lines:
    """A line when a task begins, and one every half minute: a log stays short and is never silent."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.told: dict[str, float] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        now = monotonic()
        if what in self.told and now - self.told[what] < EVERY:
            return
        self.told[what] = now
        of = f" of {total:,}" if total else ""
        self.console.print(f"{what}: {done:,}{of}", highlight=False, markup=False, soft_wrap=True)
