"""How far a longer context helps: order 16 in a hashed table, since 4^17 counts would not fit in memory.

Of contexts that share a slot the first to come has it for good, known by a tag; the others count as unseen and are left
to the lower order. A context that is seen often is likely to have come early, and the counts that are kept are its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.kmers import GOLDEN, Codes, Kmers, kmer_codes, reverse_complements
from dnagoat.counts.markov import PSEUDO_COUNTS, Chances, Heard, ignored, overlapping

# B windows, W bases of a window, n contexts

ORDER = 16
FEWEST_BITS, MOST_BITS = 16, 25  # 2^25 slots of four counts and a tag take 544 MB
CROWDED = 2.0  # contexts a slot: from here on more than half of them have none
_TAG_BITS = 8


@dataclass(frozen=True)
class HashedCounts:
    """Counts (slots, 4) of the base that follows a context of `order` bases, both strands; tags (slots,), 0 = free."""

    table: NDArray[np.uint32]
    tags: NDArray[np.uint8]
    order: int

    def places(self, contexts: Kmers) -> tuple[Kmers, NDArray[np.uint8]]:
        """The slot of each context and the tag that tells it there: the first bits of its hash, and the next."""
        bits = len(self.tags).bit_length() - 1
        top = (contexts.astype(np.uint64) * GOLDEN) >> np.uint64(64 - bits - _TAG_BITS)
        tags = np.maximum(top & np.uint64((1 << _TAG_BITS) - 1), 1).astype(np.uint8)
        return (top >> np.uint64(_TAG_BITS)).astype(np.int64), tags

    def add(self, kmers: Kmers) -> None:
        """Counts (order + 1)-mers (n,), those whose context has a slot or finds a free one."""
        slots, tags = self.places(kmers >> 2)
        free = np.flatnonzero(self.tags[slots] == 0)[::-1]
        self.tags[slots[free]] = tags[free]  # backwards: of several that want a slot NumPy leaves the last one there
        own = self.tags[slots] == tags
        np.add.at(self.table.reshape(-1), 4 * slots[own] + (kmers[own] & 3), np.uint32(1))

    def seen(self, kmers: Kmers) -> NDArray[np.float64]:
        """How often each base followed the context of each (order + 1)-mer, (..., 4); 0 where the slot is another's."""
        slots, tags = self.places(kmers >> 2)
        return np.where((self.tags[slots] == tags)[..., None], self.table[slots], 0).astype(np.float64)

    @property
    def load(self) -> float:
        """Contexts a slot, those without one included: what leaves as many slots free, if each fell anywhere."""
        free = max(int(np.count_nonzero(self.tags == 0)), 1)
        return float(np.log(len(self.tags) / free))


def count_hashed(stretches: Iterable[Codes], bases: int, order: int = ORDER, heard: Heard = ignored) -> HashedCounts:
    """Counts stretches of codes, `bases` in all, into at least two slots a base as far as memory allows."""
    bits = min(max(int(2 * bases).bit_length(), FEWEST_BITS), MOST_BITS)
    counts = HashedCounts(np.zeros((1 << bits, 4), dtype=np.uint32), np.zeros(1 << bits, dtype=np.uint8), order)
    for stretch in stretches:
        for chunk in overlapping(stretch, order + 1, heard):
            kmers, known = kmer_codes(chunk, order + 1)
            forward = kmers[known]
            for strand in (forward, reverse_complements(forward, order + 1)):
                counts.add(strand)
    return counts


def lengthened(counts: HashedCounts, codes: Codes, lower: Chances, pseudo: float = PSEUDO_COUNTS) -> Chances:
    """The chances (B, W) of a lower order mixed into those of the hashed one, where codes (B, W) have its context."""
    chances = lower.copy()
    if codes.shape[1] <= counts.order:
        return chances
    kmers, known = kmer_codes(codes, counts.order + 1)
    seen = counts.seen(kmers)
    here = np.take_along_axis(seen, (kmers & 3)[..., None], axis=-1)[..., 0]
    place = chances[:, counts.order :]
    place[known] = ((here + pseudo * place) / (seen.sum(axis=-1) + pseudo))[known]
    return chances
