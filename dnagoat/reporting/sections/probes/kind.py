"""What the kinds of probes have in common: a kind itself, and how a share of trials becomes a cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.numbers import percent
from dnagoat.reporting.table import Cell, Table

Result = dict[str, Any]
SEED_NOTE = (
    "The interval is of the test sequences alone: it does not cover the training seed, and another may fall outside."
)


@dataclass(frozen=True)
class Kind:
    """`headline` is the finding in a few words, `sentence` with its numbers; each takes the result of a probe of this
    kind."""

    headline: Callable[[Result], str]
    sentence: Callable[[Result], str]
    tables: Callable[[Result], list[Table]]
    figure: Callable[[Result], Figure]


def rate(row: Result) -> Cell:
    low, high = row["interval"] or (None, None)
    under = [] if low is None else [f"{percent(low)} to {percent(high)}"]
    seeds = row.get("seeds", ())
    if len(seeds) > 1:
        under.append(f"by seed {', '.join(f'{100 * seed:.0f}' for seed in seeds)} %")
    return Cell(percent(row["value"]), row["value"], low, high, under="\n".join(under))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
