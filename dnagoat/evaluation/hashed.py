"""How far a longer context helps: order 16 in a hashed table, since 4^17 counts would not fit in memory.

Contexts that share a slot share their counts; mixing with a lower order keeps such mistakes small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.kmers import Codes, Kmers, kmer_codes, reverse_complements
from dnagoat.evaluation.markov import PSEUDO_COUNTS, Chances, overlapping

# B windows, W bases of a window

ORDER = 16
FEWEST_BITS, MOST_BITS = 16, 25  # 2^25 slots of four counts take 512 MB
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing by the golden ratio


@dataclass(frozen=True)
class HashedCounts:
    """Counts (slots, 4) of the base that follows a context of `order` bases, both strands."""

    table: NDArray[np.uint32]
    order: int

    def slots(self, contexts: Kmers) -> Kmers:
        bits = len(self.table).bit_length() - 1
        return ((contexts.astype(np.uint64) * _MULTIPLIER) >> np.uint64(64 - bits)).astype(np.int64)


def count_hashed(stretches: Iterable[Codes], bases: int, order: int = ORDER) -> HashedCounts:
    """Counts stretches of codes, `bases` in all, into at least two slots a base as far as memory allows."""
    bits = min(max(int(2 * bases).bit_length(), FEWEST_BITS), MOST_BITS)
    counts = HashedCounts(np.zeros((1 << bits, 4), dtype=np.uint32), order)
    flat = counts.table.reshape(-1)
    for stretch in stretches:
        for chunk in overlapping(stretch, order + 1):
            kmers, known = kmer_codes(chunk, order + 1)
            forward = kmers[known]
            for strand in (forward, reverse_complements(forward, order + 1)):
                np.add.at(flat, 4 * counts.slots(strand >> 2) + (strand & 3), np.uint32(1))
    return counts


def lengthened(counts: HashedCounts, codes: Codes, lower: Chances, pseudo: float = PSEUDO_COUNTS) -> Chances:
    """The chances (B, W) of a lower order mixed into those of the hashed one, where codes (B, W) have its context."""
    chances = lower.copy()
    if codes.shape[1] <= counts.order:
        return chances
    kmers, known = kmer_codes(codes, counts.order + 1)
    seen = counts.table[counts.slots(kmers >> 2)].astype(np.float64)
    here = np.take_along_axis(seen, (kmers & 3)[..., None], axis=-1)[..., 0]
    place = chances[:, counts.order :]
    place[known] = ((here + pseudo * place) / (seen.sum(axis=-1) + pseudo))[known]
    return chances
