"""How well a table of counts predicts DNA: order-k Markov chains, the yardstick that any model has to beat.

Both strands are counted. `interpolated` mixes each order with the next lower one by pseudo-counts; `backed_off` takes
the longest context that was seen often enough. Where a context is cut short, by the start of a window or by an N, the
highest order that fits is used: the same bases are scored as the model's, with the same context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.kmers import Codes, Kmers, kmer_codes

# B windows, W bases of a window, k order (length of the context), K highest order

HIGHEST_ORDER = 12
PSEUDO_COUNTS = 20.0
SEEN_OFTEN = 20  # a context counted at least this often is trusted alone by the backed-off chain
CHUNK = 1 << 22  # bases counted at once: their k-mer numbers take 32 MB

Counts = NDArray[np.int64] | NDArray[np.uint32]
Floats = NDArray[np.float64]
Chances = Floats
Heard = Callable[[int], None]
Scheme = Callable[["MarkovTables", Codes], Iterator[Chances]]


def ignored(bases: int) -> None:
    """Who does not ask how far the counting is."""


@dataclass(frozen=True)
class MarkovTables:
    """Counts of both strands: `tables[k]`, (4^(k+1),), of each (k+1)-mer, that is of a base after k bases."""

    tables: tuple[Counts, ...]
    bases: int  # that were counted, on one strand

    @property
    def order(self) -> int:
        return len(self.tables) - 1

    def look_up(self, k: int, kmers: Kmers) -> tuple[Floats, Floats]:
        """How often each (k+1)-mer was seen, and how often its first k bases were (followed by any base)."""
        table = self.tables[k]
        contexts = table.reshape(-1, 4)[kmers >> 2]
        return table[kmers].astype(np.float64), contexts.sum(axis=-1, dtype=np.float64)


def count(stretches: Iterable[Codes], order: int = HIGHEST_ORDER, heard: Heard = ignored) -> MarkovTables:
    """Counts stretches of codes (W,), of any length, on both strands, but nothing across a stretch's end or an N.

    One pass over the highest order; each lower one is its sum over the first base, plus the few k-mers that begin a run
    of known bases and so have none before them. 100 million bases at order 12 take seconds and 1.2 GB. `heard` is told
    how many more bases were counted.
    """
    top = np.zeros(4 ** (order + 1), dtype=np.uint32)
    heads: list[Codes] = []
    bases = 0
    for stretch in stretches:
        for chunk in overlapping(stretch, order + 1, heard):
            kmers, known = kmer_codes(chunk, order + 1)
            np.add.at(top, kmers[known], np.uint32(1))
        heads.append(_run_heads(stretch, order))
        bases += int(np.count_nonzero(stretch < 4))
    tables: list[Counts] = [top]
    starts = np.concatenate(heads) if heads else np.empty((0, order), dtype=np.uint8)
    for k in range(order, 0, -1):
        lower = tables[0].reshape(4, -1).sum(axis=0, dtype=np.int64)
        kmers, known = kmer_codes(starts[:, :k], k)
        np.add.at(lower, kmers[known], 1)
        tables.insert(0, lower)
    return MarkovTables(tuple(_both_strands(table, k + 1) for k, table in enumerate(tables)), bases)


def overlapping(stretch: Codes, k: int, heard: Heard = ignored) -> Iterator[Codes]:
    """Chunks of a stretch that share k - 1 bases with the next, so that each k-mer lies in exactly one."""
    for start in range(0, len(stretch) - k + 1, CHUNK):
        yield np.asarray(stretch[start : start + CHUNK + k - 1])
        heard(min(CHUNK, len(stretch) - start))


def _run_heads(stretch: Codes, width: int) -> Codes:
    """The first `width` codes of each run of known bases, (runs, width), with N past the run's end."""
    known = np.asarray(stretch) < 4
    before = np.concatenate([[False], known[:-1]])
    starts = np.flatnonzero(known & ~before)
    places = starts[:, None] + np.arange(width)
    padded = np.where(places < len(stretch), np.asarray(stretch)[np.minimum(places, len(stretch) - 1)], 4)
    return np.where(np.logical_or.accumulate(padded > 3, axis=1), 4, padded).astype(np.uint8)


def _both_strands(table: Counts, k: int) -> Counts:
    # Complementing every base reverses the table; reading backwards transposes its k axes.
    table += table[::-1].reshape((4,) * k).transpose().reshape(-1)
    return table


def interpolated(markov: MarkovTables, codes: Codes, pseudo: float = PSEUDO_COUNTS) -> Iterator[Chances]:
    """The probabilities that orders 0, 1, .. K give each base of codes (B, W), each (B, W); NaN where that is an N.

    Order k: p_k = (count + pseudo p_(k-1)) / (context count + pseudo), and p_(-1) = 1/4.
    """
    chances = np.where(codes < 4, 0.25, np.nan)
    for k in range(markov.order + 1):
        seen, contexts, known = _looked_up(markov, k, codes)
        lower = chances[:, k:]
        chances = chances.copy()
        chances[:, k:] = np.where(known, (seen + pseudo * lower) / (contexts + pseudo), lower)
        yield chances


def backed_off(markov: MarkovTables, codes: Codes, often: int = SEEN_OFTEN) -> Iterator[Chances]:
    """As `interpolated`, from the longest context seen at least `often` times: (count + 1/2) / (context count + 2)."""
    chances = np.where(codes < 4, 0.25, np.nan)
    for k in range(markov.order + 1):
        seen, contexts, known = _looked_up(markov, k, codes)
        lower = chances[:, k:]
        chances = chances.copy()
        chances[:, k:] = np.where(known & (contexts >= often), (seen + 0.5) / (contexts + 2), lower)
        yield chances


def _looked_up(markov: MarkovTables, k: int, codes: Codes) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """For the bases from the k-th on, (B, W - k): how often each and its context of k were seen; which have one."""
    if codes.shape[1] <= k:
        nothing = np.zeros((len(codes), 0))
        return nothing, nothing, nothing.astype(bool)
    kmers, known = kmer_codes(codes, k + 1)
    return *markov.look_up(k, kmers), known
