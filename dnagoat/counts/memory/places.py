"""Every place of the text, sorted by the 32 bases before it: what followed a word of up to 32 bases is one run of it.

A place counts where the 32 bases before it, its own, and the 16 after that are known. `first` says where the places
begin whose last 12 bases are a given word (newest base first); longer words are found by bisection among them.
"""

# M positions of the text, P places

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.bits import leading_zeros
from dnagoat.counts.memory.compiling import Int, compiled
from dnagoat.counts.memory.text import REACH, Packed, base_at, broken_at, word_at

AHEAD = 16  # the farthest gap
SEED_BASES = 12  # bases whose places are found without bisection
BUCKETS = 1 << (2 * SEED_BASES)
_SHIFT = np.uint64(64 - 2 * SEED_BASES)
_AHEAD_BITS = np.uint64(2 * AHEAD + 2)  # of the bases after a place's context, which are the newest of a key
_FEW = 40  # so many are sorted by insertion

Places = NDArray[np.uint32]


@compiled
def read_on(bases: Packed, breaks: Packed, p: Int, known: Int, key: np.uint64) -> tuple[Int, np.uint64]:
    """How many bases are known up to position p, without a break, and the newest 32 of them."""
    if broken_at(breaks, p):
        return 0, key
    return known + 1, (key >> np.uint64(2)) | (np.uint64(base_at(bases, p)) << np.uint64(62))


@compiled
def seed_of(key: np.uint64) -> Int:
    """The seed of the place that lies AHEAD of the newest base of a key."""
    return np.int64((key << _AHEAD_BITS) >> _SHIFT)


@compiled
def count_seeds(bases: Packed, breaks: Packed) -> Places:
    """Where the places of each seed begin, (4^12 + 1,)."""
    first = np.zeros(BUCKETS + 1, np.uint32)
    known: Int = 0
    key = np.uint64(0)
    for p in range(32 * len(bases)):
        known, key = read_on(bases, breaks, p, known, key)
        if known > REACH + AHEAD:
            first[seed_of(key) + 1] += np.uint32(1)
    for i in range(BUCKETS):
        first[i + 1] += first[i]
    return first


@compiled
def scatter(bases: Packed, breaks: Packed, first: Places, places: Places) -> None:
    """Puts each place among those of its seed, in the order of the text."""
    free = first.copy()
    known: Int = 0
    key = np.uint64(0)
    for p in range(32 * len(bases)):
        known, key = read_on(bases, breaks, p, known, key)
        if known > REACH + AHEAD:
            seed = seed_of(key)
            places[free[seed]] = p - AHEAD
            free[seed] += np.uint32(1)


@compiled
def sort_places(bases: Packed, first: Places, places: Places, start: Int, end: Int) -> None:
    """Sorts the places of the seeds [start, end) by all of their 32 bases."""
    most = np.int64(1)
    for seed in range(start, end):
        most = max(most, np.int64(first[seed + 1]) - np.int64(first[seed]))
    keys, other_keys = np.empty(most, np.uint64), np.empty(most, np.uint64)
    other = np.empty(most, np.uint32)
    starts = np.empty(257, np.int64)
    for seed in range(start, end):
        lo = np.int64(first[seed])
        count = np.int64(first[seed + 1]) - lo
        if count < 2:
            continue
        own = places[lo : lo + count]
        for i in range(count):
            keys[i] = word_at(bases, np.int64(own[i]) - REACH)
        if count <= _FEW:
            insert(keys, own, count)
        else:
            radix(keys, own, other_keys, other, count, starts)


@compiled
def insert(keys: Packed, places: Places, count: Int) -> None:
    for i in range(1, count):
        key, place, j = keys[i], places[i], i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1], places[j + 1] = keys[j], places[j]
            j -= 1
        keys[j + 1], places[j + 1] = key, place


@compiled
def radix(
    keys: Packed, places: Places, other_keys: Packed, other: Places, count: Int, starts: NDArray[np.int64]
) -> None:
    """By the 40 bits below the seed, 8 at a time, the lowest first."""
    for turn in range(5):
        shift = np.uint64(8 * turn)
        starts[:] = 0
        for i in range(count):
            starts[np.int64((keys[i] >> shift) & np.uint64(255)) + 1] += 1
        for digit in range(256):
            starts[digit + 1] += starts[digit]
        for i in range(count):
            own = np.int64((keys[i] >> shift) & np.uint64(255))
            to = starts[own]
            starts[own] += 1
            other_keys[to], other[to] = keys[i], places[i]
        keys[:count] = other_keys[:count]
        places[:count] = other[:count]


@compiled
def shared(bases: Packed, place: Int, key: np.uint64) -> Int:
    """How many of the newest bases before a place are those of a key, without a break."""
    return leading_zeros(word_at(bases, place - REACH) ^ key) >> 1


@compiled
def insertion(bases: Packed, places: Places, lo: Int, hi: Int, key: np.uint64) -> Int:
    """The first of the sorted places [lo, hi) whose 32 bases are not below the key."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if word_at(bases, np.int64(places[middle]) - REACH) < key:
            lo = middle + 1
        else:
            hi = middle
    return lo


@compiled
def run_before(bases: Packed, places: Places, lo: Int, start: Int, key: np.uint64, length: Int) -> Int:
    """Where the places begin, at or before `start` and after `lo`, that share `length` bases with the key.

    Steps double until one is too far, so that a short run is found in a look or two.
    """
    step, hi = 1, start
    while hi - step >= lo and shared(bases, np.int64(places[hi - step]), key) >= length:
        hi -= step
        step *= 2
    lo = max(lo, hi - step + 1)
    while lo < hi:
        middle = (lo + hi) >> 1
        if shared(bases, np.int64(places[middle]), key) >= length:
            hi = middle
        else:
            lo = middle + 1
    return lo


@compiled
def run_after(bases: Packed, places: Places, start: Int, hi: Int, key: np.uint64, length: Int) -> Int:
    """The same in the other direction: where those places end, at or after `start`, up to `hi`."""
    step, lo = 1, start
    while lo + step <= hi and shared(bases, np.int64(places[lo + step - 1]), key) >= length:
        lo += step
        step *= 2
    hi = min(hi, lo + step - 1)
    while lo < hi:
        middle = (lo + hi) >> 1
        if shared(bases, np.int64(places[middle]), key) >= length:
            lo = middle + 1
        else:
            hi = middle
    return lo
