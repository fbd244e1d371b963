"""Which bases of a chromosome stand in two records? Windows of one would be copies of the other's, whatever the split.

Places are compared by chromosome (chr1 and 1 are one) and start; records without a known place by their bases.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final, NamedTuple

import numpy as np

from dnagoat.errors import DatasetError
from dnagoat.genome.alphabet import CODE, Codes, reverse_complement
from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import alias_key
from dnagoat.genome.windows import Split
from dnagoat.wording import counted

_FIRST: Final[tuple[Split, ...]] = ("test", "val", "train")  # who keeps bases that several have


class Shared(NamedTuple):
    """Two contigs that hold the same `bases` of a chromosome."""

    left: Contig
    right: Contig
    bases: int


def find_shared(contigs: list[Contig], window: int, read: Callable[[Contig], Codes]) -> list[Shared]:
    """Every contig that begins before another of its chromosome has ended, and every copy under another name.

    `read` gives a contig's tokens. Copies without a place are found where they could leak: with a whole window, in more
    than one split.
    """
    shared = []
    for group in _by_chromosome(contigs).values():
        furthest = group[0]
        for contig in group[1:]:
            start, end = contig.to_home(0, contig.length)
            reach = furthest.to_home(0, furthest.length)[1]
            if start < reach:
                shared.append(Shared(furthest, contig, min(end, reach) - start))
            furthest = contig if end > reach else furthest
    for copies in _copies(contigs, window, read):
        splits = {split for contig in copies for *_, split in contig.spans}
        alike = len({alias_key(contig.name) for contig in copies}) < len(copies)
        if len(splits) > 1 or alike:
            shared += [Shared(copies[0], contig, contig.length) for contig in copies[1:]]
    return shared


def refuse_shared(shared: list[Shared], source: str) -> None:
    """A `DatasetError` that names the first pair and counts the others."""
    if not shared:
        return
    left, right, bases = shared[0]
    more = f" (one of {len(shared):,} such pairs)" if len(shared) > 1 else ""
    raise DatasetError(
        f"{source}: records {left.name[:80]} and {right.name[:80]} hold the same {counted(bases, 'base')} of "
        f"{left.home[:80]}{more}, so that windows of one would be copies of the other's; cut them apart, or give "
        "--overlaps trim"
    )


def trim_shared(
    contigs: list[Contig], window: int, guard: int, read: Callable[[Contig], Codes]
) -> tuple[list[Contig], int]:
    """The contigs with spans that leave each base to one of them, and how many bases were so taken from others.

    Test keeps what it has, validation what test has not, training the rest, `guard` bases away from both; within a
    split the first along the chromosome keeps it.
    """
    kept: dict[str, list[tuple[int, int, Split]]] = {contig.name: list(contig.spans) for contig in contigs}
    for copies in _copies(contigs, window, read):
        owner = min(copies, key=lambda contig: min((_FIRST.index(split) for *_, split in contig.spans), default=3))
        kept |= {contig.name: [] for contig in copies if contig is not owner}
    for group in _by_chromosome(contigs).values():
        if len(group) > 1:
            _trim(group, kept, guard)
    trimmed = [contig.model_copy(update={"spans": tuple(kept[contig.name])}) for contig in contigs]
    return trimmed, sum(map(_covered, contigs)) - sum(map(_covered, trimmed))


def _covered(contig: Contig) -> int:
    return sum(end - start for start, end, _ in contig.spans)


def _by_chromosome(contigs: list[Contig]) -> dict[str, list[Contig]]:
    """Contigs by the chromosome that they lie on, in its order; whole ones only where pieces of it are there too."""
    groups: dict[str, list[Contig]] = defaultdict(list)
    for contig in contigs:
        if contig.start is not None and contig.length:
            groups[alias_key(contig.home)].append(contig)
    for contig in contigs:
        if contig.start is None and contig.length and alias_key(contig.name) in groups:
            groups[alias_key(contig.name)].append(contig)
    for group in groups.values():
        group.sort(key=lambda contig: (contig.start or 0, -contig.length))
    return groups


def _copies(contigs: list[Contig], window: int, read: Callable[[Contig], Codes]) -> Iterator[list[Contig]]:
    """Groups of contigs without a known place that are one sequence, or its other strand."""
    alike = [contig for contig in contigs if contig.start is None and window <= contig.length > contig.n]
    counts = Counter((contig.length, contig.n, contig.gc) for contig in alike)
    groups: dict[bytes, list[Contig]] = defaultdict(list)
    for contig in alike:
        if counts[contig.length, contig.n, contig.gc] > 1:  # few are: all others need not be read
            codes = read(contig) & np.uint8(CODE)
            groups[min(sha256(strand.tobytes()).digest() for strand in (codes, reverse_complement(codes)))].append(
                contig
            )
    yield from (group for group in groups.values() if len(group) > 1)


def _trim(group: list[Contig], kept: dict[str, list[tuple[int, int, Split]]], guard: int) -> None:
    """Replaces in `kept` the spans of the contigs of one chromosome by what no earlier one has taken."""
    taken = _Taken()
    spans = {contig.name: kept[contig.name] for contig in group}
    for split in _FIRST:
        if split == "train":
            taken = taken.widened(guard)
        for contig in group:
            own = [span for span in spans[contig.name] if span[2] == split]
            left = [piece for start, end, _ in own for piece in taken.without(*contig.to_home(start, end))]
            kept[contig.name] = [span for span in kept[contig.name] if span[2] != split]
            kept[contig.name] += [(*contig.from_home(*piece), split) for piece in left]
            taken.add(left)
    for contig in group:
        kept[contig.name].sort()


class _Taken:
    """Disjoint intervals of a chromosome, in order."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def without(self, start: int, end: int) -> list[tuple[int, int]]:
        """What of [start, end) is not taken."""
        left = []
        for place in range(bisect_right(self._ends, start), bisect_left(self._starts, end)):
            if start < self._starts[place]:
                left.append((start, self._starts[place]))
            start = self._ends[place]
        return [*left, (start, end)] if start < end else left

    def add(self, pieces: list[tuple[int, int]]) -> None:
        for start, end in pieces:
            place = bisect_left(self._starts, start)
            self._starts.insert(place, start)
            self._ends.insert(place, end)

    def widened(self, guard: int) -> _Taken:
        wide = _Taken()
        for start, end in zip(self._starts, self._ends, strict=True):
            wide.add(wide.without(start - guard, end + guard))
        return wide
