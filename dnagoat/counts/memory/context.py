"""What a sequence has read itself: how often each base followed each word of it so far, on both strands.

One small table of words for each sequence, which grows with it; a break ends a word and is counted in none.
"""

# B sequences, S slots

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.bits import other_strand, scrambled
from dnagoat.counts.memory.compiling import Int, compiled
from dnagoat.counts.memory.experts import Experts
from dnagoat.counts.memory.own import word_of

Context = NDArray[np.uint64]  # (B, S, 2): a word and its length (0: free), how often A C G T followed, 16 bits each
_BASE, _THREE, _MOST = np.uint64(16), np.uint64(3), np.uint64(0xFFFF)
_SLOT, _TOP = np.uint64(32), np.uint64(62)


def slots_for(experts: Experts, symbols: int) -> int:
    """Room for what so many symbols leave on both strands, at most half full; none where no expert asks."""
    words = 2 * (len(experts.lengths) - experts.counted) * symbols
    return 1 << (2 * words - 1).bit_length() if words else 0


def grown(context: Context, slots: int) -> Context:
    """The same words with room for more, (B, slots, 2); the array itself where it has that many."""
    if context.shape[1] >= slots:
        return context
    larger = np.zeros((len(context), slots, 2), np.uint64)
    for old, new in zip(context, larger, strict=True):
        move(old, new)
    return larger


@compiled
def move(old: Context, new: Context) -> None:
    """Puts the words of one table (S, 2) into another, which is empty."""
    for i in range(len(old)):
        if old[i, 0] != 0:
            new[slot_of(new, old[i, 0])] = old[i]


@compiled
def name_of(word: np.uint64, length: Int) -> np.uint64:
    """A word of at most 24 bases and its length as one number, never 0."""
    return word | (np.uint64(length) << np.uint64(48))


@compiled
def slot_of(table: Context, name: np.uint64) -> Int:
    """Where a word stands in a table (S, 2), or would."""
    slot = np.int64(scrambled(name) >> _SLOT) & (len(table) - 1)
    while table[slot, 0] != 0 and table[slot, 0] != name:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@compiled
def add(table: Context, name: np.uint64, base: np.uint64) -> None:
    slot, shift = slot_of(table, name), _BASE * base
    table[slot, 0] = name
    if (table[slot, 1] >> shift) & _MOST != _MOST:
        table[slot, 1] += np.uint64(1) << shift


@compiled
def take_in(experts: Experts, key: np.uint64, known: Int, table: Context) -> None:
    """Counts what the newest base followed, and what follows on the other strand; after `remember`."""
    turned = other_strand(key)
    for e in range(experts.counted, len(experts.lengths)):
        k = experts.lengths[e]
        if known <= k:
            return
        add(table, name_of(word_of(key << np.uint64(2), k), k), key >> _TOP)
        shift = np.uint64(2 * k)
        add(table, name_of(turned & ((np.uint64(1) << shift) - np.uint64(1)), k), (turned >> shift) & _THREE)


@compiled
def count_context(table: Context, key: np.uint64, known: Int, length: Int, counts: NDArray[np.int64]) -> Int:
    """What has followed the word that ends here, into counts (4,), and how often in all."""
    counts[:] = 0
    if known < length:
        return 0
    line = table[slot_of(table, name_of(word_of(key, length), length)), 1]
    for base in range(4):
        counts[base] = np.int64((line >> (_BASE * np.uint64(base))) & _MOST)
    return np.int64(counts[0] + counts[1] + counts[2] + counts[3])
