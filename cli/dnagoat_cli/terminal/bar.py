"""What is shown while something takes long: a live bar on a terminal, elsewhere a plain line now and then.

All of it goes to standard error. Without a terminal the first line comes after FIRST seconds of a command's work, the
next ones EVERY so many seconds, whatever calls back or does not: a clock of its own looks at the phase that runs.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from dnagoat.progress import Stage
    from dnagoat.training.kept.metrics import Step

FIRST, EVERY = 2.0, 30.0  # seconds
LOOK = 0.2
LAST = "finishing"  # of a phase whose units are all done, until the next one is told


class Tell(Protocol):
    """A `dnagoat.progress.Progress` that also takes a note of the moment: a loss, a speed."""

    def __call__(self, what: str, done: int, total: int, note: str = "") -> None: ...


@dataclass
class Command:
    """When the command that runs began to work, and when it last printed a line."""

    began: float | None = None
    told: float | None = None

    def due(self, now: float) -> bool:
        self.began = self.began or now
        return now - self.began >= FIRST and (self.told is None or now - self.told >= EVERY)


@dataclass
class Phase:
    """What is being done since when, how much of it is done, how much was when it began, and a note of the moment."""

    what: str
    done: int
    total: int
    note: str
    began: float
    first: int = 0

    def line(self) -> str:
        spent = monotonic() - self.began
        words = [self.what]
        if self.total:
            words.append(f"{self.done:,} of {self.total:,} ({self.done / self.total:.0%})")
        elif self.done:
            words.append(f"{self.done:,}")
        words += [self.note] if self.note else []
        words.append(f"{clock(spent)} so far")
        if self.first < self.done < self.total:
            words.append(f"about {clock(spent * (self.total - self.done) / (self.done - self.first))} left")
        elif 0 < self.total <= self.done:
            words.append(LAST)
        return ", ".join(words)


_command = Command()


def begin_command() -> None:
    """From here on a new command's time is counted."""
    _command.began = _command.told = None


@contextmanager
def show_progress(first: str = "starting", *, quiet: bool = False) -> Iterator[Tell]:
    """Yields what the library calls with (what, done, total); `first` is said of the time before it does."""
    stream = sys.stderr
    if quiet:
        yield lambda what, done, total, note="": None
        return
    with _live(first, stream) if is_live(stream) else _lines(first, stream) as tell:
        yield tell


def is_live(stream: TextIO) -> bool:
    """Whether a bar can move there: a terminal that can go back in its line."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


@contextmanager
def _lines(first: str, stream: TextIO) -> Iterator[Tell]:
    begun = {first: (monotonic(), 0)}  # when, and how much was done already: what is resumed begins in the middle
    phase, end = Phase(first, 0, 0, "", *begun[first]), Event()

    def tell(what: str, done: int, total: int, note: str = "") -> None:
        nonlocal phase
        phase = Phase(what, done, total, note, *begun.setdefault(what, (monotonic(), done)))

    def watch() -> None:
        while not end.wait(LOOK):
            if _command.due(now := monotonic()):
                _command.told = now
                try:
                    stream.write(f"{phase.line()}\n")
                    stream.flush()
                except (OSError, ValueError):  # nobody reads any more
                    return

    _command.due(monotonic())
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield tell
    finally:
        end.set()
        watcher.join()


@contextmanager
def _live(first: str, stream: TextIO) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    class Counts(ProgressColumn):
        def render(self, task: Task) -> Text:
            whole = f" of {task.total:,.0f}" if task.total else ""
            left = f", {clock(task.time_remaining)} left" if task.time_remaining and task.total else ""
            left = f", {LAST}" if task.finished else left
            return Text(f"{task.completed:,.0f}{whole}{left}" if task.total or task.completed else "")

    # Names are no markup, and what a narrow terminal has no room for is folded.
    fold = Column(overflow="fold")
    said = TextColumn("{task.description}", markup=False, table_column=fold)
    note = TextColumn("{task.fields[note]}", markup=False, table_column=fold)
    with Progress(
        said,
        BarColumn(20),
        Counts(table_column=fold),
        note,
        TimeElapsedColumn(),
        console=Console(file=stream),
        transient=True,
    ) as drawn:
        bars: dict[str, TaskID] = {first: drawn.add_task(first, total=None, note="")}

        def tell(what: str, done: int, total: int, note: str = "") -> None:
            if what not in bars:
                over = {task.id for task in drawn.tasks if task.finished or not task.total}
                for other in [other for other in bars if bars[other] in over]:
                    drawn.remove_task(bars.pop(other))
                bars[what] = drawn.add_task(what, total=total or None, completed=done, note=note)
            drawn.update(bars[what], completed=done, total=total or None, note=note)

        yield tell


def clock(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def say(sentence: str) -> None:
    """What a person should know and no script reads: a line on standard error."""
    sys.stderr.write(f"note: {sentence}\n")


def watch(steps: Iterable[Step], label: str, *, quiet: bool = False) -> Step | None:
    """Runs through the steps while they are told; the last one, or None where there was none to make."""
    last, val_nll = None, None
    if quiet:
        return next(iter(deque(steps, maxlen=1)), None)
    with show_progress(f"{label}: the first step") as tell:
        for last in steps:
            val_nll = last.val_nll if last.val_nll is not None else val_nll
            tell(f"{label}: step", last.step, last.steps, _of_step(last, val_nll))
    return last


def _of_step(step: Step, val_nll: float | None) -> str:
    memory = step.cuda_allocated_peak if step.cuda_allocated_peak is not None else step.resident_peak
    of = "CUDA" if step.cuda_allocated_peak is not None else "resident"
    validated = "not validated yet" if val_nll is None else f"val {val_nll:.4f}"
    return (
        f"loss {step.loss:.4f}, {validated}, {step.tokens_per_second:,.0f} bases/s, "
        f"peak {(memory or 0) / 2**30:.2f} GiB {of}"
    )


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
def show_stages() -> Iterator[Callable[[Stage], None]]:
    """Yields what the library calls with the stage of a preparation."""
    with show_progress() as tell:

        def report(at: Stage) -> None:
            unit = UNITS.get(at.stage, 1)
            total = at.total or (round(at.done / at.share) if at.share > 0 else 0)
            tell(STAGES[at.stage], at.done // unit, total // unit)

        yield report
