"""A training window's own words: what the counts hold because this very window was counted, on either strand.

Taken away, they leave what would have been counted had the window been unknown: all places whose 32 bases before, own
base or 16 bases after touch the window.
"""

# E experts, S slots of a small hash table

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.bits import scrambled
from dnagoat.counts.memory.compiling import Int, compiled
from dnagoat.counts.memory.experts import SHORT, Experts
from dnagoat.counts.memory.places import AHEAD
from dnagoat.counts.memory.text import REACH, Packed, broken_at, word_at

_ONE, _TWO, _LOW = np.uint64(1), np.uint64(2), np.uint64(0xFFFFFFFF)
Own = NDArray[np.uint64]  # (E, S, 3): a word + 1 (0 = free), how often A and C followed it, G and T (32 bits each)


def room_for(experts: int, width: int) -> Own:
    """An empty table for windows of `width` bases, at most half full."""
    return np.zeros((experts, 1 << int(4 * (width + REACH + AHEAD + 1)).bit_length(), 3), np.uint64)


@compiled
def word_of(key: np.uint64, length: Int) -> np.uint64:
    """The last `length` of the 32 bases in a key."""
    return key >> np.uint64(64 - 2 * length)


@compiled
def collect(bases: Packed, breaks: Packed, experts: Experts, start: Int, end: Int, own: Own) -> None:
    """Counts anew, into `own`, the places of both strands that touch text positions [start, end)."""
    own[:] = 0
    length = 32 * len(bases)
    for first, last in ((start, end), (length - end, length - start)):
        known = 0
        for newest in range(first - AHEAD - REACH, last + REACH + AHEAD):
            if broken_at(breaks, newest):
                known = 0
                continue
            known += 1
            place = newest - AHEAD
            if known <= REACH + AHEAD or place < first - AHEAD or place >= last + REACH:
                continue
            before, after = word_at(bases, place - REACH), word_at(bases, place)
            for e in range(experts.counted):
                k, gap = experts.lengths[e], np.uint64(experts.gaps[e])
                if k <= SHORT:
                    add(own[e], word_of(before << _TWO, k), before >> np.uint64(62))
                else:
                    add(own[e], word_of(before, k), (after >> (_TWO * gap)) & np.uint64(3))


@compiled
def slot_of(own: Own, word: np.uint64) -> Int:
    """Where a word stands in the table (S, 3) of an expert, or would."""
    slot = np.int64(scrambled(word) >> np.uint64(32)) & (len(own) - 1)
    while own[slot, 0] != 0 and own[slot, 0] != word + _ONE:
        slot = (slot + 1) & (len(own) - 1)
    return slot


@compiled
def add(own: Own, word: np.uint64, base: np.uint64) -> None:
    slot = slot_of(own, word)
    own[slot, 0] = word + _ONE
    own[slot, 1 + np.int64(base >> _ONE)] += _ONE << (np.uint64(32) * (base & _ONE))


@compiled
def take(own: Own, word: np.uint64, counts: NDArray[np.int64]) -> None:
    """Takes what is the window's own from counts (4,)."""
    slot = slot_of(own, word)
    for half in range(2):
        pair = own[slot, 1 + half]
        counts[2 * half] -= np.int64(pair & _LOW)
        counts[2 * half + 1] -= np.int64(pair >> np.uint64(32))
