"""What follows the sorted places: how often each base stands g bases after the places of a run, for each gap g.

A block of 64 places takes 32 bytes: how often each base stood before the block (4 x 32 bits), the low bits of its 64
bases, and their high bits. Two looks tell how often each base stands in a run of places, however long.
"""

# P places, G gaps

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.bits import ones
from dnagoat.counts.memory.compiling import Int, compiled
from dnagoat.counts.memory.places import Places
from dnagoat.counts.memory.text import Packed, word_at

BLOCK = 64
_ONE, _LOW = np.uint64(1), np.uint64(0xFFFFFFFF)


@compiled
def fill(bases: Packed, places: Places, gaps: NDArray[np.int64], blocks: Packed) -> None:
    """Fills blocks (G, P / 64 + 1, 4)."""
    counts = np.zeros((len(gaps), 4), np.uint64)
    after = np.empty(BLOCK, np.uint64)
    for block in range(blocks.shape[1]):
        start = block * BLOCK
        size = min(BLOCK, len(places) - start)
        for i in range(size):
            after[i] = word_at(bases, np.int64(places[start + i]))
        for g in range(len(gaps)):
            own = counts[g]
            blocks[g, block, 0] = own[0] | (own[1] << np.uint64(32))
            blocks[g, block, 1] = own[2] | (own[3] << np.uint64(32))
            shift, low, high = np.uint64(2 * gaps[g]), np.uint64(0), np.uint64(0)
            for i in range(size):
                base = after[i] >> shift
                low |= (base & _ONE) << np.uint64(i)
                high |= ((base >> _ONE) & _ONE) << np.uint64(i)
            blocks[g, block, 2], blocks[g, block, 3] = low, high
            both, some = np.uint64(ones(low & high)), np.uint64(size)
            ones_low, ones_high = np.uint64(ones(low)), np.uint64(ones(high))
            own[3] += both
            own[2] += ones_high - both
            own[1] += ones_low - both
            own[0] += some + both - ones_low - ones_high


@compiled
def add_before(blocks: Packed, r: Int, sign: Int, counts: NDArray[np.int64]) -> None:
    """Adds to counts (4,), or takes from them, how often each base follows the first r places."""
    line = blocks[r >> 6]
    mask = (_ONE << np.uint64(r & 63)) - _ONE
    low, high = line[2], line[3]
    counts[0] += sign * (np.int64(line[0] & _LOW) + ones(mask & ~low & ~high))
    counts[1] += sign * (np.int64(line[0] >> np.uint64(32)) + ones(mask & low & ~high))
    counts[2] += sign * (np.int64(line[1] & _LOW) + ones(mask & ~low & high))
    counts[3] += sign * (np.int64(line[1] >> np.uint64(32)) + ones(mask & low & high))
