"""What a reader of any format yields: records in order, each a header and then its bases in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from dnagoat.genome.alphabet import Codes
from dnagoat.genome.source import Source

GapRule = Literal["refuse", "drop"]


class Header(NamedTuple):
    """A record begins."""

    name: str
    description: str


class Bases(NamedTuple):
    """More of the record's sequence: tokens (L,), and how many letters were something else before."""

    tokens: Codes
    ambiguous: int = 0
    uracil: int = 0
    gaps: int = 0


class Records(Protocol):
    """One pass over a source. After the last event `uneven` names records that the index cannot hold."""

    source: Source
    uneven: list[str]

    def events(self) -> Iterator[Header | Bases]: ...

    def share(self) -> float:
        """How much of the source was read, 0 to 1."""

    def write_index(self, folder: Path) -> None:
        """Writes what finds a base again in the source, if the format needs it."""
