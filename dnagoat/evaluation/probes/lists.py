"""Which lists a probe takes: something, each once, numbers from small to large; and how much is held at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import AfterValidator, Field

MOST_SEEDS = 1000
# Symbols in memory: a batch, or all trials of a cell. Each takes some 30 bytes as codes, inputs, targets and draws.
MOST_AT_ONCE = 2**28


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(f"{value} is named twice; name each once")
    return values


def _rising(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(sorted(values))


SOME = Field(min_length=1)
ONCE, RISING = AfterValidator(_once), AfterValidator(_rising)


def refuse_too_many(symbols: int, options: Mapping[str, object]) -> None:
    """A `ValueError` where `options` together ask for more symbols at once than a machine holds."""
    if symbols > MOST_AT_ONCE:
        asked = ", ".join(f"{name} {value}" for name, value in options.items())
        raise ValueError(f"{asked} make {symbols:,} symbols at once; give less, up to {MOST_AT_ONCE:,}")
