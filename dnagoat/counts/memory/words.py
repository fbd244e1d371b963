"""What the word experts say of the next base: the runs of places of the words that end here, and the counts in them.

Runs are kept for 32 symbols, so that a gapped expert finds those of the word that ended g bases ago.
"""

# E experts, L word lengths that are searched, B sequences

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.compiling import Int, compiled
from dnagoat.counts.memory.context import Context, count_context
from dnagoat.counts.memory.experts import GAPS, SEARCHED, SHORT, Experts
from dnagoat.counts.memory.following import add_before
from dnagoat.counts.memory.own import Own, take, word_of
from dnagoat.counts.memory.places import SEED_BASES, Places, insertion, run_after, run_before
from dnagoat.counts.memory.text import Packed

RING = 32
_LENGTHS, _GAPS = np.array(SEARCHED), np.array(GAPS)
_SEED_SHIFT = np.uint64(64 - 2 * SEED_BASES)


class Tables(NamedTuple):
    """The arrays of `dnagoat.counts.memory.tables`."""

    bases: Packed
    breaks: Packed
    first: Places
    places: Places
    blocks: Packed
    short: Places  # where the places begin whose last 9 bases are a given word, (4^9 + 1,)


class Past(NamedTuple):
    """What B sequences have read: as many symbols, the newest 32 bases, how many of them since the last break, and for
    the last 32 symbols that and the runs of places of the words that ended there."""

    read: NDArray[np.int64]  # (B,)
    key: NDArray[np.uint64]  # (B,)
    known: NDArray[np.int64]  # (B,)
    keys: NDArray[np.uint64]  # (B, RING)
    knowns: NDArray[np.int64]  # (B, RING)
    runs: NDArray[np.int64]  # (B, RING, L, 2)
    nearest: NDArray[np.int64]  # (B, 3): where the key would stand among the places of its seed, and their run


@compiled
def remember(past: Past, b: Int, symbol: Int) -> None:
    """Takes in a symbol: a base, or what breaks words (N, the start symbol)."""
    past.read[b] += 1
    if symbol > 3:
        past.key[b], past.known[b] = 0, 0
        return
    past.key[b] = (past.key[b] >> np.uint64(2)) | (np.uint64(symbol) << np.uint64(62))
    past.known[b] += 1


@compiled
def find_runs(tables: Tables, past: Past, b: Int) -> None:
    """The runs of all searched words that end at the newest base."""
    key, known, at = past.key[b], past.known[b], past.read[b] % RING
    past.keys[b, at], past.knowns[b, at] = key, known
    runs = past.runs[b, at]
    runs[:] = 0
    past.nearest[b] = 0
    if known <= SHORT:
        return
    seed = np.int64(key >> _SEED_SHIFT)
    near, lo, hi = np.int64(0), np.int64(0), np.int64(0)
    if known >= SEED_BASES:
        lo, hi = np.int64(tables.first[seed]), np.int64(tables.first[seed + 1])
        near = np.int64(insertion(tables.bases, tables.places, lo, hi, key))
        past.nearest[b, 0], past.nearest[b, 1], past.nearest[b, 2] = near, lo, hi
    for i in range(len(_LENGTHS)):
        length = _LENGTHS[i]
        if length > known:
            return
        if length <= SEED_BASES:
            bits = 2 * (SEED_BASES - length)
            runs[i, 0] = tables.first[(seed >> bits) << bits]
            runs[i, 1] = tables.first[((seed >> bits) + 1) << bits]
            continue
        lo = np.int64(run_before(tables.bases, tables.places, lo, near, key, length))
        hi = np.int64(run_after(tables.bases, tables.places, near, hi, key, length))
        if lo == hi:
            return
        runs[i, 0], runs[i, 1] = lo, hi


@compiled
def count(tables: Tables, experts: Experts, own: Own, past: Past, b: Int, e: Int, counts: NDArray[np.int64]) -> Int:
    """What expert e has seen follow, into counts (4,), and how often in all; without `own`, where that is given."""
    counts[:] = 0
    length, gap = experts.lengths[e], experts.gaps[e]
    at = (past.read[b] - gap) % RING
    if past.known[b] < length + gap:
        return 0
    word = word_of(past.keys[b, at], length)
    if length <= SHORT:
        bits = 2 * (SHORT - length)
        for base in range(4):
            longer = (np.int64(base) << (2 * length)) | np.int64(word)
            end, start = tables.short[(longer + 1) << bits], tables.short[longer << bits]
            counts[base] = np.int64(end) - np.int64(start)
    else:
        run = past.runs[b, at, np.searchsorted(_LENGTHS, length)]
        if run[0] == run[1]:
            return 0
        blocks = tables.blocks[np.searchsorted(_GAPS, gap)]
        add_before(blocks, run[1], 1, counts)
        add_before(blocks, run[0], -1, counts)
    if len(own):
        take(own[e], word, counts)
    return np.int64(counts[0] + counts[1] + counts[2] + counts[3])


@compiled
def predict(
    tables: Tables,
    experts: Experts,
    own: Own,
    past: Past,
    context: Context,
    b: Int,
    chances: NDArray[np.float64],
    seen: NDArray[np.float32],
) -> None:
    """The experts' chances (E, 4) of the next base, and log(1 + n) (E,) of how often each has seen what came before."""
    counts = np.empty(4, np.int64)
    for e in range(len(experts.lengths)):
        if e < experts.counted:
            n = count(tables, experts, own, past, b, e, counts)
        else:
            n = count_context(context[b], past.key[b], past.known[b], experts.lengths[e], counts)
        alpha, backing = experts.alphas[e], experts.backing[e]
        for base in range(4):
            lower = 0.25 if backing < 0 else chances[backing, base]
            chances[e, base] = (counts[base] + alpha * lower) / (n + alpha)
        seen[e] = math.log1p(n)
