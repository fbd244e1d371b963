"""What followed the last time: a base is predicted from the last occurrence of the 20 bases before it.

Either orientation counts: where the reverse complement of those bases was seen, the complement of what stood before it
is predicted. Occurrences are looked for in the window itself (before the base) and in the training split.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dnagoat.counts.kmers import GOLDEN, Codes, Kmers, kmer_codes, reverse_complements
from dnagoat.counts.markov import CHUNK
from dnagoat.genome.alphabet import Ints

# B windows, W bases of a window, Q distinct 20-mers that are asked for

WORD = 20
NONE = 4  # no prediction
_FILTER_BITS = 26  # a table of this many bits, one byte each, passes few 20-mers that were not asked for


def from_context(codes: Codes) -> Codes:
    """The base predicted at each of codes (B, W) from the window before it alone, (B, W); NONE where there is none."""
    count, width = codes.shape
    predicted = np.full(codes.shape, NONE, dtype=np.uint8)
    if width <= WORD:
        return predicted
    kmers, known = kmer_codes(codes, WORD)  # kmers[:, s] ends before base s + WORD
    _, ranks = np.unique(np.concatenate([kmers, reverse_complements(kmers, WORD)]), return_inverse=True)
    same, other = ranks.reshape(2, count, -1)
    # One number says which 20-mer, which window and where it ends; sorted, the last one before a base is a neighbour.
    ends = WORD + np.arange(kmers.shape[1]) + (width + 1) * np.arange(count)[:, None]
    step = count * (width + 1)
    sources = np.sort((same * step + ends)[known])
    rows, at = np.nonzero(known[:, :-1])
    ends = ends[rows, at]
    forward = _last(sources, same[rows, at] * step + ends - 1, width + 1)
    reverse = _last(sources, other[rows, at] * step + ends, width + 1)
    ahead = _base(codes, rows, forward)
    behind = _complement(_base(codes, rows, reverse - WORD - 1))
    predicted[rows, at + WORD] = _latest(ahead, forward, behind, reverse)
    return predicted


def _last(sources: Ints, wanted: Ints, width: int) -> Ints:
    """Where in its window the last source that is not beyond `wanted` ends; -1 where none is of its kind."""
    place = np.searchsorted(sources, wanted, side="right") - 1
    found = sources[np.maximum(place, 0)]
    return np.where((place >= 0) & (found // width == wanted // width), found % width, -1)


def _base(codes: Codes, rows: Ints, columns: Ints) -> Codes:
    return np.where(columns >= 0, codes[rows, np.maximum(columns, 0)], NONE).astype(np.uint8)


def _complement(bases: Codes) -> Codes:
    return np.where(bases < 4, 3 - bases, NONE).astype(np.uint8)


def _latest(ahead: Codes, forward: Ints, behind: Codes, reverse: Ints) -> Codes:
    """Of two predictions the one from the later occurrence; where one has none, the other."""
    first = (ahead < 4) & ((forward >= reverse) | (behind > 3))
    return np.where(first, ahead, behind)


@dataclass(frozen=True)
class Occurrences:
    """For each of Q 20-mers (sorted): its last place in the training split (-1: none) ahead of and behind which a base
    stands, and that base."""

    kmers: Kmers
    ahead_at: Ints
    ahead: Codes
    behind_at: Ints
    behind: Codes

    def predict(self, codes: Codes) -> Codes:
        """The base predicted at each of codes (B, W), (B, W); NONE where there is none."""
        predicted = np.full(codes.shape, NONE, dtype=np.uint8)
        if codes.shape[1] <= WORD:
            return predicted
        kmers, known = kmer_codes(codes[:, :-1], WORD)
        forward = np.searchsorted(self.kmers, kmers[known])
        reverse = np.searchsorted(self.kmers, reverse_complements(kmers[known], WORD))
        latest = _latest(
            self.ahead[forward], self.ahead_at[forward], _complement(self.behind[reverse]), self.behind_at[reverse]
        )
        predicted[:, WORD:][known] = latest
        return predicted


def asked_for(windows: Iterable[Codes]) -> Kmers:
    """The distinct 20-mers (Q,), in both orientations, after which bases of these windows (B, W) are predicted."""
    found = []
    for codes in windows:
        if codes.shape[1] > WORD:
            kmers, known = kmer_codes(codes[:, :-1], WORD)
            forward = kmers[known]
            found.append(np.unique(np.concatenate([forward, reverse_complements(forward, WORD)])))
    return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def occurrences(stretches: Iterable[Codes], kmers: Kmers) -> Occurrences:
    """Streams the training stretches once and notes the last occurrence of each of the 20-mers (Q,)."""
    maybe = np.zeros(1 << _FILTER_BITS, dtype=bool)
    maybe[_slots(kmers)] = True
    ahead_at, behind_at = np.full((2, len(kmers)), -1, dtype=np.int64)
    ahead, behind = np.full((2, len(kmers)), NONE, dtype=np.uint8)
    passed = 0
    for stretch in stretches:
        for start in range(0, len(stretch) - WORD + 1, CHUNK):
            seen, known = kmer_codes(stretch[start : start + CHUNK + WORD - 1], WORD)
            some = np.flatnonzero(known & maybe[_slots(seen)])
            place = np.minimum(np.searchsorted(kmers, seen[some]), max(len(kmers) - 1, 0))
            some, place = (part[kmers[place] == seen[some]] for part in (some, place))
            at = some + start
            for bases, where, neighbour in ((ahead, ahead_at, at + WORD), (behind, behind_at, at - 1)):
                inside = (neighbour >= 0) & (neighbour < len(stretch))
                usable = inside & (stretch[np.where(inside, neighbour, 0)] < 4)
                # Places come in ascending order, so of one 20-mer's the last assignment is the last occurrence.
                where[place[usable]] = at[usable] + passed
                bases[place[usable]] = stretch[neighbour[usable]]
        passed += len(stretch)
    return Occurrences(kmers, ahead_at, ahead, behind_at, behind)


def _slots(kmers: Kmers) -> Ints:
    return ((kmers.astype(np.uint64) * GOLDEN) >> np.uint64(64 - _FILTER_BITS)).astype(np.int64)
