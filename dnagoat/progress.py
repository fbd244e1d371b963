"""How long work says how far it is: it calls a function, which may draw; the library itself never does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

# (what is being done, units done, units in all or 0 where nobody knows); a phase calls it first as it begins.
Progress = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """The progress that nobody watches."""


def relabelled(progress: Progress, label: str) -> Progress:
    """The same progress under a label that says more than the worker knows: `label: what`."""
    return lambda what, done, total: progress(f"{label}: {what}", done, total)


def counter(progress: Progress, what: str, total: int) -> Callable[[int], None]:
    """Begins a phase, and returns a function that is told how many more units are done."""
    done = 0

    def more(units: int) -> None:
        nonlocal done
        done += units
        progress(what, done, total)

    more(0)
    return more


class Stage(NamedTuple):
    """What a preparation does, how much of it is done (bytes of a download, else bases), and its share (0 to 1)."""

    stage: Literal["download", "index", "bases", "windows", "kmers", "memory"]
    done: int
    share: float
    total: int | None = None


StageProgress = Callable[[Stage], None]
