"""How do records become the token store: appended in order, with each contig's place and counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from dnagoat.genome.dataset import Contig
from dnagoat.genome.progress import Progress, Tell
from dnagoat.genome.read.records import Header, Records
from dnagoat.genome.store.tokens import TokenWriter

# Records cut from a chromosome: chr21_15000000_20000000 (0-based, half-open) or chr1:1-100 (samtools: 1-based, closed).
_PIECE: Final = re.compile(r"(?P<chromosome>.+)(?:_(?P<start>\d+)_(?P<end>\d+)|:(?P<first>\d+)-(?P<last>\d+))")


@dataclass
class Stored:
    """What the store holds: contigs in order, letters that were something else in the source, the file's hash."""

    contigs: list[Contig]
    skipped: list[str]
    ambiguous: int
    uracil: int
    gaps: int
    sha256: str

    def total(self, count: Literal["length", "n", "masked", "gc"]) -> int:
        return sum(getattr(contig, count) for contig in self.contigs)


def store_records(
    records: Records, file: Path, keep: Callable[[str], bool], progress: Tell, *, threads: int = 1
) -> Stored:
    """Writes the bases of the records whose names `keep` accepts; the others are read, judged and skipped."""
    stored = Stored([], [], 0, 0, 0, "")
    with TokenWriter(file, threads=threads) as store:
        here: dict[str, Any] | None = None
        for event in records.events():
            if isinstance(event, Header):
                _finish(here, store, stored)
                here = _begin(event, store) if keep(event.name) else None
                if here is None:
                    stored.skipped.append(event.name)
            elif here is not None:
                store.append(event.tokens)
                stored.ambiguous += event.ambiguous
                stored.uracil += event.uracil
                stored.gaps += event.gaps
                progress(Progress("bases", store.bases, records.share()))
        _finish(here, store, stored)
    stored.sha256 = store.sha256
    return stored


def _begin(header: Header, store: TokenWriter) -> dict[str, Any]:
    before = {"offset": store.bases, "n": store.n, "masked": store.masked, "gc": store.gc}
    return {"name": header.name, "description": header.description, **before}


def _finish(contig: dict[str, Any] | None, store: TokenWriter, stored: Stored) -> None:
    if contig is None:
        return
    counts = {name: getattr(store, name) - contig[name] for name in ("n", "masked", "gc")}
    length = store.bases - contig["offset"]
    stored.contigs.append(Contig(**{**contig, **counts, "length": length, **_origin(contig["name"], length)}))


def _origin(name: str, length: int) -> dict[str, Any]:
    """Which part of which chromosome a record is, where its name says so and its length agrees.

    A piece of a piece is found again in the whole: chr21_100_200_10_20 is chr21 from 110.
    """
    match = _PIECE.fullmatch(name)
    if not match:
        return {}
    closed = match["first"] is not None
    start = int(match["first"]) - 1 if closed else int(match["start"])
    end = int(match["last"]) if closed else int(match["end"])
    if start < 0 or end - start != length:
        return {}
    outer = _PIECE.fullmatch(match["chromosome"])
    if outer and outer["start"] is not None and end <= int(outer["end"]) - int(outer["start"]):
        return {"chromosome": outer["chromosome"], "start": int(outer["start"]) + start}
    return {"chromosome": match["chromosome"], "start": start}
