"""What memory says while sequences are read: features of every symbol, the same in one pass or in pieces.

Everything about a position is computed from the symbols up to it, one after the other, by the same compiled loop in
training, scoring and generation.
"""

# B sequences, T symbols, E experts, F fades, V levels of a vote

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.config import Family
from dnagoat.counts.memory.compiling import compiled
from dnagoat.counts.memory.copies import LEVELS, NOWHERE, SLOTS, Followed, Zone, find_copies, follow, vote
from dnagoat.counts.memory.experts import SEARCHED, Experts, experts_of
from dnagoat.counts.memory.own import Own, collect, room_for
from dnagoat.counts.memory.tables import Memory
from dnagoat.counts.memory.words import RING, Past, Tables, find_runs, predict, remember

FADES = (0.9, 0.98)  # in an expert's record of the last symbols: how much one counts of what the next one does
_FADES, _QUARTER = np.array(FADES), math.log(0.25)

NEIGHBOURHOOD = 4096  # bases around a training window that are not copied from

Floats = NDArray[np.float32]
Symbols = NDArray[np.int64]


class Features(NamedTuple):
    """After each symbol, in nats above a guess among four: how the experts had judged it, `surprise` (B, T, E), and the
    last ones, `records` (B, T, F, E); what they say of the next base, `says` (B, T, E, 4), having `seen` its word n
    times, log(1 + n) (B, T, E); and the copies' `votes` (B, T, V, 4)."""

    surprise: Floats
    records: Floats
    says: Floats
    seen: Floats
    votes: NDArray[np.uint8]


class State(NamedTuple):
    """What has to be known of B sequences to read on; all arrays begin with (B,)."""

    past: Past
    copies: Followed
    chances: NDArray[np.float64]  # (B, E, 4) of the next base
    records: NDArray[np.float64]  # (B, F, E)


@compiled
def read(
    tables: Tables,
    experts: Experts,
    state: State,
    b: int,
    symbols: NDArray[np.int64],
    own: Own,
    zone: Zone,
    features: Features,
) -> None:
    """Reads symbols (T,) of sequence b on from its state; its rows of `features` are filled."""
    for t in range(len(symbols)):
        symbol = symbols[t]
        judge(state, b, symbol, features.surprise[b, t], features.records[b, t])
        remember(state.past, b, symbol)
        find_runs(tables, state.past, b)
        predict(tables, experts, own, state.past, b, state.chances[b], features.seen[b, t])
        says = features.says[b, t]
        for e in range(says.shape[0]):
            for base in range(4):
                says[e, base] = math.log(state.chances[b, e, base]) - _QUARTER
        if state.copies.places.shape[1]:
            follow(tables, zone, state.past, state.copies, b, symbol)
            find_copies(tables, zone, state.past, state.copies, b)
            vote(tables, state.copies, b, features.votes[b, t])


@compiled
def judge(state: State, b: int, symbol: int, surprise: Floats, records: Floats) -> None:
    """How good each expert's chances were, now that the base is known; of what is no base nothing is learned."""
    for e in range(len(surprise)):
        surprise[e] = 0 if symbol > 3 else math.log(state.chances[b, e, symbol]) - _QUARTER
        for f in range(len(_FADES)):
            if symbol <= 3:
                state.records[b, f, e] += (1 - _FADES[f]) * (surprise[e] - state.records[b, f, e])
            records[f, e] = state.records[b, f, e]


NOTHING = np.zeros((0, 1, 3), np.uint64), np.zeros(4, np.int64)  # nothing is left out


def begin(experts: Experts, slots: int, batch: int) -> State:
    """The state of `batch` sequences of which nothing has been read."""
    count, shape = len(experts.lengths), (batch, RING)
    past = Past(
        np.zeros(batch, np.int64),
        np.zeros(batch, np.uint64),
        np.zeros(batch, np.int64),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.int64),
        np.zeros((*shape, len(SEARCHED), 2), np.int64),
        np.zeros((batch, 3), np.int64),
    )
    followed = Followed(np.full((batch, slots), NOWHERE, np.int64), np.zeros((batch, slots), np.uint64))
    return State(past, followed, np.full((batch, count, 4), 0.25), np.zeros((batch, len(FADES), count)))


def repeated(state: State, repeats: int) -> State:
    """Each sequence's state `repeats` times over."""
    past, copies = (type(part)(*(np.repeat(array, repeats, 0) for array in part)) for part in state[:2])
    return State(past, copies, *(np.repeat(array, repeats, 0) for array in state[2:]))


def empty(experts: int, levels: int, batch: int, count: int) -> Features:
    """Features of `count` symbols of `batch` sequences, all 0."""
    shape = (batch, count)
    return Features(
        np.zeros((*shape, experts), np.float32),
        np.zeros((*shape, len(FADES), experts), np.float32),
        np.zeros((*shape, experts, 4), np.float32),
        np.zeros((*shape, experts), np.float32),
        np.zeros((*shape, levels, 4), np.uint8),
    )


class Reader:
    """Reads sequences with the families of a model; each in a thread of its own where there are several."""

    def __init__(self, memory: Memory, families: tuple[Family, ...], threads: int | None = None) -> None:
        self.memory, self.tables, self.experts = memory, memory.tables, experts_of(families)
        self.slots, self.levels = (SLOTS, LEVELS) if "copies" in families else (0, 0)
        self.threads = threads or len(os.sched_getaffinity(0))

    def begin(self, batch: int) -> State:
        return begin(self.experts, self.slots, batch)

    def read(self, state: State, symbols: Symbols) -> Features:
        """Reads symbols (B, T), bases or what is none, on from a state, which moves."""
        return self._each(state, symbols, lambda _: NOTHING)

    def read_training(self, codes: Symbols, starts: Symbols) -> Features:
        """Reads whole inputs (B, W) of training windows that begin at `starts` (B,) of the token store, whichever strand.

        What the window itself has put into the counts is left out, and copies from within 4,096 bases of it.
        """
        width = codes.shape[1]
        return self._each(self.begin(len(codes)), codes, lambda b: self._left_out(int(starts[b]), width))

    def _left_out(self, start: int, width: int) -> tuple[Own, Zone]:
        first, last = self.memory.place(start, start + width)
        if first == last:
            return NOTHING
        own = room_for(len(self.experts.lengths), width)
        collect(self.tables.bases, self.tables.breaks, self.experts, first, last, own)
        near, far = first - NEIGHBOURHOOD, last + NEIGHBOURHOOD
        length = 32 * len(self.tables.bases)
        return own, np.array([near, far, length - far, length - near])

    def _each(self, state: State, symbols: Symbols, left_out: Callable[[int], tuple[Own, Zone]]) -> Features:
        features = empty(len(self.experts.lengths), self.levels, *symbols.shape)

        def one(b: int) -> None:
            read(self.tables, self.experts, state, b, symbols[b], *left_out(b), features)

        if len(symbols) == 1 or self.threads == 1:
            for b in range(len(symbols)):
                one(b)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(one, range(len(symbols))))
        return features
