"""How long work says how far it is: it calls a function, which may draw; the library itself never does."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # (what is being done, units done, units in all)


def silent(what: str, done: int, total: int) -> None:
    """The progress that nobody watches."""


def relabelled(progress: Progress, label: str) -> Progress:
    """The same progress under a label that says more than the worker knows: `label: what`."""
    return lambda what, done, total: progress(f"{label}: {what}", done, total)
