"""Which records does a source of any format hold, in order: as they come, or each as a whole?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import CODE, Codes
from dnagoat.genome.read.records import Bases, GapRule, Header, Records
from dnagoat.genome.read.scan import FastaScan
from dnagoat.genome.read.source import Source


def records_of(source: Source, gaps: GapRule = "refuse", cure: str = "take gaps out") -> Records:
    """One pass over a source; `gaps`, and the cure that a gap's message names, concern FASTA."""
    return FastaScan(source, gaps, cure=cure) if source.format is None else source.format.scan(source)


def read_pieces(path: Path) -> Iterator[tuple[str, Codes | None]]:
    """(name, None) where a record of a file or stream begins, and then (name, codes) as its bases come."""
    name, source = None, Source(path)
    for event in records_of(source).events():
        if isinstance(event, Header):
            name = event.name
            yield name, None
        elif isinstance(event, Bases) and name is not None:
            yield name, event.tokens & np.uint8(CODE)
    if name is None:
        raise SourceError(f"{source} holds no record; give FASTA with at least one sequence")


def read_records(path: Path) -> Iterator[tuple[str, Codes]]:
    """Names and codes (L,) of the records of a file or stream, one at a time."""
    name, parts = None, list[Codes]()
    for here, codes in read_pieces(path):
        if codes is not None:
            parts.append(codes)
            continue
        if name is not None:
            yield name, _joined(parts)
        name, parts = here, []
    if name is not None:
        yield name, _joined(parts)


def _joined(parts: list[Codes]) -> Codes:
    return np.concatenate([np.empty(0, dtype=np.uint8), *parts])
