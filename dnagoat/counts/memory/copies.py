"""Copies of what was just read: places of the text with the same bases before them, followed from base to base.

At each base some places of the same last 12 bases are compared over the last 32: the nearest in the sorted order, which
share the longest word, and a few from anywhere in the run. The best are followed through mismatches, each with a record
of which of its last 32 bases agreed; one is dropped that agrees in too few, or meets a break. Each votes for the base
that it has next, with the weight that a model gives to its level of agreement and of its streak.
"""

# B sequences, S slots

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.bits import agreements, leading_zeros, ones, scrambled
from dnagoat.counts.memory.compiling import Int, compiled
from dnagoat.counts.memory.features import AGREED, STREAK
from dnagoat.counts.memory.text import REACH, base_at, broken_at, word_at
from dnagoat.counts.memory.words import Past, Tables

SLOTS = 32  # copies that are followed at once
NEAREST, FARTHER = 16, 16  # places that are compared at each base
TAKEN, DROPPED = 16, 12  # of the last 32 bases: so many must agree to be taken up, and to be followed on
NOWHERE = -1
_NEWEST = np.uint64(1) << np.uint64(63)
_AGREED, _STREAK = (np.searchsorted(edges, np.arange(33), "right") - 1 for edges in (AGREED, STREAK))

Zone = NDArray[np.int64]  # (4,): two stretches of the text, [start, end) each, that are not copied from


class Followed(NamedTuple):
    """The copies of B sequences: where each stands in the text (NOWHERE: free) and which of its bases agreed, the
    newest in bit 63; both (B, S)."""

    places: NDArray[np.int64]
    records: NDArray[np.uint64]


@compiled
def within(zone: Zone, place: Int) -> bool:
    return bool(zone[0] <= place < zone[1] or zone[2] <= place < zone[3])


@compiled
def agreed(record: np.uint64) -> Int:
    """How many of the last 32 bases agreed."""
    return ones(record >> np.uint64(32))


@compiled
def follow(tables: Tables, zone: Zone, past: Past, copies: Followed, b: Int, symbol: Int) -> None:
    """Takes all copies one base further, to be called after `remember`; a break ends them."""
    least = min(DROPPED, past.known[b] - 1)
    for s in range(copies.places.shape[1]):
        place = copies.places[b, s]
        if place == NOWHERE:
            continue
        record = copies.records[b, s] >> np.uint64(1)
        if symbol == base_at(tables.bases, place):
            record |= _NEWEST
        place += 1
        if symbol > 3 or broken_at(tables.breaks, place) or within(zone, place) or agreed(record) < least:
            place = NOWHERE
        copies.places[b, s], copies.records[b, s] = place, record


@compiled
def find_copies(tables: Tables, zone: Zone, past: Past, copies: Followed, b: Int) -> None:
    """Compares some places of the same seed; to be called after `find_runs`."""
    near, lo, hi = past.nearest[b]
    for i in range(NEAREST):
        at = near + (i >> 1) if i & 1 else near - 1 - (i >> 1)
        if lo <= at < hi:
            offer(tables, zone, past, copies, b, np.int64(tables.places[at]))
    if hi - lo <= NEAREST:
        return
    for i in range(FARTHER):
        drawn = scrambled(np.uint64(FARTHER * past.read[b] + i)) >> np.uint64(20)
        offer(tables, zone, past, copies, b, np.int64(tables.places[lo + np.int64(drawn % np.uint64(hi - lo))]))


@compiled
def offer(tables: Tables, zone: Zone, past: Past, copies: Followed, b: Int, place: Int) -> None:
    """Follows a place from now on, instead of the copy that agrees least, if it agrees better."""
    if within(zone, place):
        return
    worst, fewest = 0, np.int64(65)
    for s in range(copies.places.shape[1]):
        other = copies.places[b, s]
        if other == place:
            return
        count = np.int64(-1 if other == NOWHERE else agreed(copies.records[b, s]))
        if count < fewest:
            worst, fewest = s, count
    record, known = agreements(past.key[b], word_at(tables.bases, place - REACH)), past.known[b]
    if known < REACH:
        record &= ~(~np.uint64(0) >> np.uint64(known))
    if agreed(record) >= max(fewest + 1, min(TAKEN, known)):
        copies.places[b, worst], copies.records[b, worst] = place, record


@compiled
def vote(tables: Tables, copies: Followed, b: Int, votes: NDArray[np.uint8]) -> None:
    """How many copies of each level (of agreement, then of streak) have each base next, (LEVELS, 4)."""
    votes[:] = 0
    for s in range(copies.places.shape[1]):
        if copies.places[b, s] != NOWHERE:
            record = copies.records[b, s]
            streak = _STREAK[min(leading_zeros(~record), REACH)]
            votes[_AGREED[agreed(record)] * len(STREAK) + streak, base_at(tables.bases, copies.places[b, s])] += 1
