"""What a reader of any format yields: records in order, each a header and then its bases in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

import numpy as np

from dnagoat.genome.alphabet import AMBIGUOUS, GAP, REFUSED, TABLE, TOKEN, URACIL, Codes
from dnagoat.genome.place import Place
from dnagoat.genome.read.source import Source

GapRule = Literal["refuse", "drop"]
BLANK: Final = b"\r\n \t"


class Header(NamedTuple):
    """A record begins. `place` is where it lies on a chromosome of `chromosome_length` bases, if its reader knows;
    `genome` is the one that it is of, where several are read.
    """

    name: str
    description: str
    place: Place | None = None
    chromosome_length: int | None = None
    genome: str | None = None


class Bases(NamedTuple):
    """More of the record's sequence: tokens (L,), and how many letters were something else before."""

    tokens: Codes
    ambiguous: int = 0
    uracil: int = 0
    gaps: int = 0


class Refused(Exception):
    """A letter is no nucleotide; `place` is its number among the letters, blanks not counted."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def bases_of(text: bytes, gaps: GapRule = "refuse") -> Bases:
    """The bases of sequence text, blanks left out; `Refused` at the first letter that is none."""
    tokens = np.frombuffer(text.translate(TABLE, BLANK), dtype=np.uint8)
    if not tokens.size or int(tokens.max()) <= TOKEN:
        return Bases(tokens)
    wrong = np.flatnonzero(tokens >= (GAP if gaps == "refuse" else REFUSED))
    if wrong.size:
        raise Refused(int(wrong[0]))
    kept = tokens[tokens != GAP]
    return Bases(
        tokens=kept & np.uint8(TOKEN),
        ambiguous=int(np.count_nonzero(kept & np.uint8(AMBIGUOUS))),
        uracil=int(np.count_nonzero(kept & np.uint8(URACIL))),
        gaps=tokens.size - kept.size,
    )


class ByPlace(Protocol):
    """A source whose records are read by their place; `lengths` maps their names, in order, to bases."""

    lengths: dict[str, int]

    def bases(self, name: str, start: int, end: int) -> Bases:
        """The bases [start, end) of a record, 0-based."""

    def close(self) -> None: ...


class Events(Protocol):
    """One pass over records."""

    def events(self) -> Iterator[Header | Bases]: ...

    def share(self) -> float:
        """How much was read, 0 to 1."""


class Records(Events, Protocol):
    """One pass over a source. After the last event `uneven` names records that the index cannot hold."""

    source: Source
    uneven: list[str]

    def write_index(self, folder: Path) -> None:
        """Writes what finds a base again in the source, if the format needs it."""
