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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.config import Family
from dnagoat.counts.memory.compiling import compiled
from dnagoat.counts.memory.context import Context, grown, slots_for, take_in
from dnagoat.counts.memory.copies import NOWHERE, SLOTS, Followed, Zone, find_copies, follow, vote
from dnagoat.counts.memory.experts import SEARCHED, Experts, experts_of
from dnagoat.counts.memory.features import FADES, LEVELS, Features, blank
from dnagoat.counts.memory.own import Own, collect, room_for
from dnagoat.counts.memory.tables import Memory
from dnagoat.counts.memory.words import RING, Past, Tables, find_runs, predict, remember

_FADES, _QUARTER = np.array(FADES), math.log(0.25)

NEIGHBOURHOOD = 4096  # bases around a training window that are not copied from
SHARED_OUT = 1024  # symbols from which on threads pay

Floats = NDArray[np.float32]
Symbols = NDArray[np.int64]


class Held(NamedTuple):
    """What has to be known of B sequences to read on; all arrays begin with (B,)."""

    past: Past
    copies: Followed
    chances: NDArray[np.float64]  # (B, E, 4) of the next base
    records: NDArray[np.float64]  # (B, F, E)
    context: Context


@dataclass
class State:
    """Where reading stands: it moves with each symbol, and takes more room as what was read grows."""

    held: Held


@compiled
def read(
    tables: Tables,
    experts: Experts,
    state: Held,
    symbols: Symbols,
    rows: tuple[int, int],
    own: Own,
    zone: Zone,
    features: Features,
) -> None:
    """Reads symbols (B, T) of the sequences [first, last) on from their state; their rows of `features` are filled."""
    for b in range(rows[0], rows[1]):
        for t in range(symbols.shape[1]):
            judge(state, b, symbols[b, t], features.surprise[b, t], features.records[b, t])
            remember(state.past, b, symbols[b, t])
            if experts.counted < len(experts.lengths) and symbols[b, t] <= 3:
                take_in(experts, state.past.key[b], state.past.known[b], state.context[b])
            find_runs(tables, state.past, b)
            predict(tables, experts, own, state.past, state.context, b, state.chances[b], features.seen[b, t])
            says = features.says[b, t]
            for e in range(says.shape[0]):
                for base in range(4):
                    says[e, base] = math.log(state.chances[b, e, base]) - _QUARTER
            if state.copies.places.shape[1]:
                follow(tables, zone, state.past, state.copies, b, symbols[b, t])
                find_copies(tables, zone, state.past, state.copies, b)
                vote(tables, state.copies, b, features.votes[b, t])


@compiled
def judge(state: Held, b: int, symbol: int, surprise: Floats, records: Floats) -> None:
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
    chances, records = np.full((batch, count, 4), 0.25), np.zeros((batch, len(FADES), count))
    return State(Held(past, followed, chances, records, np.zeros((batch, 0, 2), np.uint64)))


def _each_array(change: Callable[[Any], Any], states: list[State]) -> State:
    """A state made of what `change` makes of each of its arrays in several states."""
    past, copies, *rest = (list(parts) for parts in zip(*(state.held for state in states), strict=True))
    held = Held(
        Past(*(change(arrays) for arrays in zip(*past, strict=True))),
        Followed(*(change(arrays) for arrays in zip(*copies, strict=True))),
        *(change(arrays) for arrays in rest),
    )
    return State(held)


class Reader:
    """Reads sequences with the families of a model, several at once in threads."""

    def __init__(self, memory: Memory, families: tuple[Family, ...], threads: int | None = None) -> None:
        self.memory, self.tables, self.experts = memory, memory.tables, experts_of(families)
        self.slots, self.levels = (SLOTS, LEVELS) if "copies" in families else (0, 0)
        self.threads = threads or len(os.sched_getaffinity(0))

    def begin(self, batch: int) -> State:
        """The state of `batch` sequences of which nothing has been read."""
        return begin(self.experts, self.slots, batch)

    def repeated(self, state: State, repeats: int) -> State:
        """The state of each sequence, `repeats` times over."""
        return _each_array(lambda arrays: np.repeat(arrays[0], repeats, axis=0), [state])

    def joined(self, states: list[State]) -> State:
        """The states of several batches as that of one."""
        return _each_array(np.concatenate, states)

    def read(self, state: State, symbols: Symbols) -> Features:
        """Reads symbols (B, T), bases or what is none, on from a state, which moves."""
        features, held = blank(len(self.experts.lengths), self.levels, *symbols.shape), self._grown(state, symbols)

        def some(rows: tuple[int, int]) -> None:
            read(self.tables, self.experts, held, symbols, rows, *NOTHING, features)

        parts = self.threads if symbols.size >= SHARED_OUT else 1
        edges = np.linspace(0, len(symbols), min(parts, len(symbols)) + 1).astype(int).tolist()
        self._each(some, list(pairwise(edges)))
        return features

    def read_training(self, symbols: Symbols, starts: Symbols) -> Features:
        """Reads whole inputs (B, W) of training windows that begin at `starts` (B,) of the token store, on any strand.

        What the window itself has put into the counts is left out, and copies from within 4,096 bases of it.
        """
        features = blank(len(self.experts.lengths), self.levels, *symbols.shape)
        held = self._grown(self.begin(len(symbols)), symbols)

        def one(b: int) -> None:
            left_out = self._left_out(int(starts[b]), symbols.shape[1])
            read(self.tables, self.experts, held, symbols, (b, b + 1), *left_out, features)

        self._each(one, list(range(len(symbols))))
        return features

    def _grown(self, state: State, symbols: Symbols) -> Held:
        """What the state holds, with room for these symbols."""
        so_far = int(state.held.past.read.max(initial=0))
        slots = slots_for(self.experts, so_far + symbols.shape[1])
        state.held = state.held._replace(context=grown(state.held.context, slots))
        return state.held

    def _left_out(self, start: int, width: int) -> tuple[Own, Zone]:
        first, last = self.memory.place(start, start + width)
        if first == last:
            return NOTHING
        own = room_for(self.experts.counted, width)
        collect(self.tables.bases, self.tables.breaks, self.experts, first, last, own)
        near, far = first - NEIGHBOURHOOD, last + NEIGHBOURHOOD
        length = 32 * len(self.tables.bases)
        return own, np.array([near, far, length - far, length - near])

    def _each(self, work: Callable[[Any], None], parts: list[Any]) -> None:
        if len(parts) == 1 or self.threads == 1:
            for part in parts:
                work(part)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(work, parts))
