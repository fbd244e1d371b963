"""How do records become the token store: appended in order, with each contig's place and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from dnagoat.genome.dataset import Contig, apart
from dnagoat.genome.place import find_place
from dnagoat.genome.read.records import Events, Header
from dnagoat.genome.store.tokens import TokenWriter, read_tokens
from dnagoat.progress import Stage, StageProgress

_AT_ONCE: Final = 1 << 22  # bases that are moved at once


@dataclass
class Stored:
    """What the store holds: contigs in order, for each the letters that were something else, the file's hash."""

    contigs: list[Contig]
    skipped: list[str]
    others: dict[str, Counter[str]]
    sha256: str = ""

    def total(self, count: Literal["length", "n", "masked", "gc"]) -> int:
        return sum(getattr(contig, count) for contig in self.contigs)

    @property
    def letters(self) -> Counter[str]:
        """How many letters of the source were ambiguous, uracil, or gaps."""
        return sum((self.others[contig.name] for contig in self.contigs if contig.name in self.others), Counter())


def store_records(
    records: Events, file: Path, keep: Callable[[Header], bool], progress: StageProgress, *, threads: int = 1
) -> Stored:
    """Writes the bases of the records whose headers `keep` accepts; the others are read, judged and skipped."""
    stored = Stored([], [], {})
    with TokenWriter(file, threads=threads) as store:
        here: dict[str, Any] | None = None
        for event in records.events():
            if isinstance(event, Header):
                _finish(here, store, stored)
                here = _begin(event, store) if keep(event) else None
                if here is None:
                    stored.skipped.append(_name(event))
            elif here is not None:
                store.append(event.tokens)
                if event.ambiguous or event.uracil or event.gaps:
                    letters = stored.others.setdefault(_name(here["header"]), Counter())
                    letters.update(ambiguous=event.ambiguous, uracil=event.uracil, gaps=event.gaps)
                progress(Stage("bases", store.bases, records.share()))
        _finish(here, store, stored)
    stored.sha256 = store.sha256
    return stored


def leave_out(stored: Stored, names: Collection[str], file: Path, *, threads: int = 1) -> Stored:
    """What is stored without the contigs of those names; the file is written anew, its bases moved up."""
    aside = file.with_name(f"{file.name}.kept")
    kept = Stored(
        [], [*stored.skipped, *(contig.name for contig in stored.contigs if contig.name in names)], stored.others
    )
    with TokenWriter(aside, threads=threads) as store:
        for contig in stored.contigs:
            if contig.name in names:
                continue
            kept.contigs.append(contig.model_copy(update={"offset": store.bases}))
            for start in range(contig.offset, contig.offset + contig.length, _AT_ONCE):
                store.append(read_tokens(file, start, min(_AT_ONCE, contig.offset + contig.length - start)))
    kept.sha256 = store.sha256
    aside.replace(file)
    return kept


def _name(header: Header) -> str:
    """What the dataset calls a record."""
    return apart(header.genome, header.name)


def _begin(header: Header, store: TokenWriter) -> dict[str, Any]:
    before = {"offset": store.bases, "n": store.n, "masked": store.masked, "gc": store.gc}
    return {"header": header, **before}


def _finish(contig: dict[str, Any] | None, store: TokenWriter, stored: Stored) -> None:
    if contig is None:
        return
    header: Header = contig.pop("header")
    counts = {name: getattr(store, name) - contig[name] for name in ("n", "masked", "gc")}
    length = store.bases - contig["offset"]
    # Without its gaps a record is no longer where its name says.
    gapped = bool(stored.others.get(_name(header), Counter())["gaps"])
    place = header.place or (None if gapped else find_place(header.name, length, header.description))
    if place is not None:
        place = place._replace(chromosome=apart(header.genome, place.chromosome))
    stored.contigs.append(
        Contig(
            name=_name(header),
            genome=header.genome,
            description=header.description,
            length=length,
            chromosome_length=header.chromosome_length,
            **({} if place is None else place._asdict()),
            **{**contig, **counts},
        )
    )


def keep_freed() -> None:
    """Lets the allocator keep up to 32 MB that were freed, instead of returning them to the system each time.

    Arrays of a few megabytes that come and go are else fetched anew, page by page, which costs several times what is
    done with them. glibc raises its thresholds when a large block is freed (mallopt(3), M_MMAP_THRESHOLD); elsewhere
    this does nothing.
    """
    np.empty(1 << 24, dtype=np.uint8)
