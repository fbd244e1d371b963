"""The training split as one text of two bits a base: its stretches one after the other, then their other strand.

Position p of the text and position M - 1 - p are the same base pair, seen from either strand. An unknown base, or the
end of a stretch, is a break: its bit is set in `breaks`, and nothing is counted or copied across it.
"""

# M positions of the text, both strands

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.compiling import Int, compiled

REACH = 32  # bases in one 64-bit word: as far as words and comparisons look back
EDGE = 64  # breaks before the first stretch, so that looking back never leaves the text

Packed = NDArray[np.uint64]


def empty_text(stretches: NDArray[np.int64]) -> tuple[Packed, Packed, NDArray[np.int64]]:
    """Room for stretches (n, 2) of the token store: bases (M / 32,), breaks (M / 64,), all set, and where each stretch
    goes: its first position (n,)."""
    lengths = stretches[:, 1] - stretches[:, 0] + 1
    first = EDGE + np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, np.int64)
    half = -(-int(EDGE + lengths.sum() + EDGE) // 64) * 64
    return np.zeros(2 * half // 32, np.uint64), np.full(2 * half // 64, ~np.uint64(0)), first.astype(np.int64)


@compiled
def put(bases: Packed, breaks: Packed, at: Int, codes: NDArray[np.uint8]) -> None:
    """Writes codes (n,) at position `at` and their complements at the mirrored positions."""
    last = 32 * len(bases) - 1
    for i in range(len(codes)):
        code = codes[i] & 7
        if code > 3:
            continue
        p = at + i
        m = last - p
        bases[p >> 5] |= np.uint64(code) << np.uint64(2 * (p & 31))
        bases[m >> 5] |= np.uint64(3 - code) << np.uint64(2 * (m & 31))
        breaks[p >> 6] &= ~(np.uint64(1) << np.uint64(p & 63))
        breaks[m >> 6] &= ~(np.uint64(1) << np.uint64(m & 63))


@compiled
def word_at(bases: Packed, p: Int) -> np.uint64:
    """The 32 bases from p on, the first in the lowest bits; those before p are `word_at(p - 32)`, the newest on top."""
    w, s = p >> 5, np.uint64(2 * (p & 31))
    x: np.uint64 = bases[w] >> s
    if s:
        x |= bases[w + 1] << (np.uint64(64) - s)
    return x


@compiled
def base_at(bases: Packed, p: Int) -> Int:
    return int((bases[p >> 5] >> np.uint64(2 * (p & 31))) & np.uint64(3))


@compiled
def broken_at(breaks: Packed, p: Int) -> bool:
    return bool((breaks[p >> 6] >> np.uint64(p & 63)) & np.uint64(1))
