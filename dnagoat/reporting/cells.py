"""How a number of a result becomes a cell of a table, with the interval and the warnings that belong beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dnagoat.reporting.numbers import UNKNOWN, decimals, interval, listed, percent
from dnagoat.reporting.table import Cell, Row

if TYPE_CHECKING:
    from dnagoat.reporting.sources import Result, Results, RunResults


def called(results: Results, run: RunResults) -> str:
    """The arm, with the seed where an arm has several and the run's name where even that is not enough."""
    same = results.of(run.arm)
    if len(same) == 1:
        return run.arm
    seeds = [other.seed for other in same]
    return f"{run.arm}, seed {run.seed}" if seeds.count(run.seed) == 1 else f"{run.arm}, {run.slug}"


def row_of(results: Results, run: RunResults, cells: Sequence[Cell], warnings: Sequence[str] = ()) -> Row:
    """A model's row in its arm's colour; the warnings belong beside each number of it."""
    return Row(called(results, run), [cell.warned(warnings) for cell in cells], arm=run.arm)


def warnings_of(results: Results, made: Sequence[tuple[RunResults, Result]]) -> list[str]:
    """What results warn of themselves, each once, with the models that it concerns where it is not all."""
    said: dict[str, list[str]] = {}
    for run, result in made:
        for text in result.get("warnings", []):
            said.setdefault(text, []).append(called(results, run))
    return [
        f"⚠ {text}." if len(models) == len(made) else f"⚠ {listed(models)}: {text}." for text, models in said.items()
    ]


def estimate(
    value: float | None,
    bounds: Any,
    digits: int = 4,
    *,
    sign: bool = False,
    under: str = "",
    warnings: Sequence[str] = (),
) -> Cell:
    """A number with its interval below it, and below that what else `under` says."""
    if value is None:
        return Cell(UNKNOWN)
    low, high = bounds or (None, None)
    below = "\n".join(part for part in (interval((low, high), digits, sign=sign), under) if part)
    return Cell(decimals(value, digits, sign=sign), value, low, high, below, tuple(warnings))


def number(value: float | None, digits: int = 4, *, sign: bool = False) -> Cell:
    return Cell(decimals(value, digits, sign=sign), value)


def share(value: float | None, digits: int = 1) -> Cell:
    return Cell(percent(value, digits), value)


def word(text: str) -> Cell:
    return Cell(text, text)
