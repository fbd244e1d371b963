"""What a section of a report is: the measures that it needs, the tables and figures that it draws of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, TypeVar

from dnagoat.reporting.comparability import Concern, Warnings
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Table

Shown = TypeVar("Shown", Figure, Table)
Tables = Callable[[Results, Warnings], Iterable[Table | None]]
Figures = Callable[[Results, Warnings], Iterable[Figure | None]]


class Question(StrEnum):
    """What a reader of a report asks, in this order."""

    BETTER = "Is it better?"
    WHERE = "Where is it better?"
    SOON = "How soon?"
    BEYOND = "Beyond its length?"
    WRITES = "What does it write?"
    LEARNED = "What did it learn?"
    COST = "What did it cost?"
    TRUST = "Can I trust it?"


@dataclass(frozen=True)
class Need:
    """A measure of a split, and the name of the file that a run keeps it in, evaluation/STEM.json.

    `beside` names the numbers that come from it, where a warning may stand; empty where none does.
    """

    measure: str
    split: Literal["val", "test"]
    stem: str
    beside: str = ""


@dataclass(frozen=True)
class Section:
    """One subject of a report, which answers a question; where a part has no data it draws None.

    `needs` is measured where a run lacks it, in this order; `may_show` is shown where somebody has measured it, and
    measured again where it is out of date. `tables` are what a terminal shows, `details` are for the page alone.
    `of_results` tabulates results of the section's measure by themselves, as `dnagoat evaluate` shows them.
    """

    question: Question
    needs: tuple[Need, ...] = ()
    may_show: tuple[Need, ...] = ()
    concerns: tuple[Concern, ...] = ()
    tables: Tables = lambda results, warnings: ()
    figures: Figures = lambda results, warnings: ()
    details: Tables = lambda results, warnings: ()
    of_results: Callable[[Sequence[Result]], Iterable[Table]] = lambda results: ()


@dataclass(frozen=True)
class Part:
    """What a report has to show of one question."""

    question: Question
    figures: list[Figure]
    tables: list[Table]
    details: list[Table]


def under_own_name(made: Shown, slug: str, said: str) -> Shown:
    """The figure or table under a name of its own, since several runs or probes may have one."""
    return replace(made, name=f"{made.name}-{slug}", title=f"{made.title} ({said})") if slug else made
