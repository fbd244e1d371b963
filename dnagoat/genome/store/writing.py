"""How do records become the token store: appended in order, with each contig's place and counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import find_place
from dnagoat.genome.progress import Progress, Tell
from dnagoat.genome.read.records import Header, Records
from dnagoat.genome.store.tokens import TokenWriter


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
    return {"header": header, **before}


def _finish(contig: dict[str, Any] | None, store: TokenWriter, stored: Stored) -> None:
    if contig is None:
        return
    header: Header = contig.pop("header")
    counts = {name: getattr(store, name) - contig[name] for name in ("n", "masked", "gc")}
    length = store.bases - contig["offset"]
    place = header.place or find_place(header.name, length, header.description)
    stored.contigs.append(
        Contig(
            name=header.name,
            description=header.description,
            length=length,
            chromosome_length=header.chromosome_length,
            **({} if place is None else place._asdict()),
            **{**contig, **counts},
        )
    )
