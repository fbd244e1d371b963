"""Where does train hold given 32-mers? It is streamed past them in stretches, in threads, whatever its size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.leaks.sampled_words import K, Kmers, sampled_kmers
from dnagoat.genome.store.folder import TOKENS
from dnagoat.genome.store.tokens import read_tokens
from dnagoat.genome.store.writing import keep_freed
from dnagoat.progress import Stage, StageProgress

_CHUNK: Final = 1 << 15  # positions at once: what stays in a core's cache
_COPIES: Final = 200  # places of one 32-mer that are looked at, so that a common repeat cannot fill the memory

T = TypeVar("T")


class Reader:
    """The sampled 32-mers of a dataset's spans."""

    def __init__(self, dataset: Dataset, one_in: int) -> None:
        keep_freed()
        self._tokens = dataset.path / TOKENS
        self._one_in = one_in

    def whole(self, spans: Ints) -> Kmers:
        """All of them, in order of position in the store."""
        return Kmers.joined([self.at(chunk) for chunk in chunks(spans)])

    def at(self, chunk: tuple[int, int]) -> Kmers:
        start, end = chunk
        kmers = sampled_kmers(read_tokens(self._tokens, start, end - start), self._one_in)
        return kmers._replace(starts=kmers.starts + start)


def chunks(spans: Ints) -> Iterator[tuple[int, int]]:
    """[start, end) of stretches that overlap by K - 1, so that each 32-mer of a span is in one of them."""
    for first, last in spans.tolist():
        for start in range(first, max(last - K + 1, first), _CHUNK):
            yield start, min(start + _CHUNK + K - 1, last)


class Wanted:
    """A sorted set of values, and which of others are in it.

    Mixed values are spread evenly, so that a table by their upper bits turns nearly all others away at one look each;
    a search by bisection alone would wait for memory twenty times a value.
    """

    def __init__(self, values: NDArray[np.uint64]) -> None:
        ordered = np.sort(values)
        fresh = np.ones(len(ordered), dtype=bool)
        fresh[1:] = ordered[1:] != ordered[:-1]
        self.values = ordered[fresh]
        most = int(self.values[-1]) if len(self.values) else 0
        bits = min(max(len(self.values), 1).bit_length() + 3, 27)
        self._shift = np.uint64(max(most.bit_length() - bits, 0))
        self._table = np.zeros((most >> int(self._shift)) + 1, dtype=bool)
        self._table[self.values >> self._shift] = True

    def among(self, kmers: Kmers) -> tuple[Kmers, Ints]:
        """Those of the set, with their places in `values`."""
        if not len(self.values):
            return kmers.where(slice(0)), np.zeros(0, dtype=np.int64)
        cells = np.minimum(kmers.values >> self._shift, np.uint64(len(self._table) - 1))
        kmers = kmers.where(self._table[cells])
        places = np.minimum(np.searchsorted(self.values, kmers.values), len(self.values) - 1)
        same = self.values[places] == kmers.values
        return kmers.where(same), places[same]


class Search:
    """Looks for 32-mers in spans of a dataset."""

    def __init__(self, reader: Reader, spans: Ints, threads: int, progress: StageProgress) -> None:
        self._reader, self._spans, self._threads, self._progress = reader, spans, threads, progress

    def present(self, wanted: Wanted) -> NDArray[np.bool_]:
        """Whether the spans hold each of the wanted values."""
        found = np.zeros(len(wanted.values), dtype=bool)
        for _, number in self._matches(wanted):
            found[number] = True
        return found

    def places(self, wanted: Wanted) -> Kmers:
        """Where the spans hold the wanted values, up to _COPIES places each."""
        seen = np.zeros(len(wanted.values), dtype=np.int64)
        kept = []
        for kmers, number in self._matches(wanted):
            few = seen[number] < _COPIES
            np.add.at(seen, number[few], 1)
            kept.append(kmers.where(few))
        return Kmers.joined(kept)

    def _matches(self, wanted: Wanted) -> Iterator[tuple[Kmers, Ints]]:
        if not len(wanted.values):
            return
        total = max(int((self._spans[:, 1] - self._spans[:, 0]).sum()), 1)

        def look(chunk: tuple[int, int]) -> tuple[int, tuple[Kmers, Ints]]:
            return chunk[1] - chunk[0], wanted.among(self._reader.at(chunk))

        done = 0
        for number, (length, found) in enumerate(_in_threads(look, chunks(self._spans), self._threads)):
            done += length
            if number % 64 == 0:
                self._progress(Stage("kmers", done, min(done / total, 1.0)))
            if len(found[1]):
                yield found


class Place(NamedTuple):
    """A stretch that shares 32-mers with a window; `strand` is "-" where it is the other strand that does."""

    start: int
    end: int
    strand: str
    shared: int


def best_place(window: Kmers, places: Kmers, width: int) -> Place | None:
    """The stretch of about `width` bases, on one strand, that shares most 32-mers with the window."""
    order = np.argsort(window.values)
    at = np.minimum(np.searchsorted(window.values, places.values, sorter=order), len(order) - 1)
    mine = order[at]
    same = window.values[mine] == places.values
    starts, mine = places.starts[same], mine[same]
    plus = places.forward[same] == window.forward[mine]
    found = []
    for strand, chosen in (("+", plus), ("-", ~plus)):
        here, there = window.starts[mine[chosen]], starts[chosen]
        # On the same strand a copy keeps the difference of the two positions, on the other their sum.
        line = there - here if strand == "+" else there + here
        found += [_densest(here, there, (line + offset) // width, strand) for offset in (0, width // 2) if line.size]
    return max(found, key=lambda place: place.shared, default=None)


def _densest(here: Ints, there: Ints, bins: Ints, strand: str) -> Place:
    _, number = np.unique(bins, return_inverse=True)
    inside = number == np.argmax(np.bincount(number))
    return Place(int(there[inside].min()), int(there[inside].max()) + K, strand, len(np.unique(here[inside])))


def _in_threads(work: Callable[[tuple[int, int]], T], items: Iterator[tuple[int, int]], threads: int) -> Iterator[T]:
    """Results in order, only a few of them ahead of the caller."""
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[T]] = deque(pool.submit(work, item) for item in islice(items, 4 * threads))
        while pending:
            yield pending.popleft().result()
            pending.extend(pool.submit(work, item) for item in islice(items, 1))
