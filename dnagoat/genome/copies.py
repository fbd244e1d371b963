"""Where does train hold given 32-mers? It is streamed past them in stretches, in threads, whatever its size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dnagoat.genome.dataset import Dataset
from dnagoat.genome.kmers import K, Kmers, sampled_kmers
from dnagoat.genome.progress import Progress, Tell
from dnagoat.genome.tokens import read_tokens

_CHUNK: Final = 1 << 14  # positions at once: what the allocator hands out again without asking the system
_COPIES: Final = 200  # places of one 32-mer that are looked at, so that a common repeat cannot fill the memory

T = TypeVar("T")
Ints = NDArray[np.int64]


class Reader:
    """The sampled 32-mers of a dataset's spans."""

    def __init__(self, dataset: Dataset, one_in: int) -> None:
        self._tokens = dataset.path / "tokens.u8"
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


class Search:
    """Looks for 32-mers in spans of a dataset."""

    def __init__(self, reader: Reader, spans: Ints, threads: int, progress: Tell) -> None:
        self._reader, self._spans, self._threads, self._progress = reader, spans, threads, progress

    def present(self, wanted: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether the spans hold each of `wanted` (sorted, each once)."""
        found = np.zeros(len(wanted), dtype=bool)
        for kmers in self._matches(wanted):
            found[np.searchsorted(wanted, kmers.values)] = True
        return found

    def places(self, wanted: NDArray[np.uint64]) -> Kmers:
        """Where the spans hold `wanted` (sorted, each once), up to _COPIES places each."""
        seen = np.zeros(len(wanted), dtype=np.int64)
        kept = []
        for kmers in self._matches(wanted):
            number = np.searchsorted(wanted, kmers.values)
            few = seen[number] < _COPIES
            np.add.at(seen, number[few], 1)
            kept.append(kmers.where(few))
        return Kmers.joined(kept)

    def _matches(self, wanted: NDArray[np.uint64]) -> Iterator[Kmers]:
        if not len(wanted):
            return
        total = max(int((self._spans[:, 1] - self._spans[:, 0]).sum()), 1)

        def look(chunk: tuple[int, int]) -> tuple[int, Kmers]:
            kmers = self._reader.at(chunk)
            place = np.minimum(np.searchsorted(wanted, kmers.values), len(wanted) - 1)
            return chunk[1] - chunk[0], kmers.where(wanted[place] == kmers.values)

        done = 0
        for number, (length, kmers) in enumerate(_in_threads(look, chunks(self._spans), self._threads)):
            done += length
            if number % 64 == 0:
                self._progress(Progress("kmers", done, min(done / total, 1.0)))
            if len(kmers.values):
                yield kmers


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
