"""How sure a ratio of sums over the genome is: a bootstrap that resamples contiguous blocks of it, never single bases.

Neighbouring bases share repeats and isochores, so an interval over bases would be far too narrow. Blocks are drawn with
replacement, which is the same as weighting each by a multinomial count: every resample is one product with a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dnagoat.wording import counted

# N units (windows, stretches), K blocks, C columns (quantities that share the resamples), R resamples

FEWEST_BLOCKS = 30  # below this a bootstrap interval is too narrow, and says so
BLOCK_BASES = 20_000
RESAMPLES = 2000
LEVEL = 0.95


def few_blocks(blocks: int, of: int | None = None, interval: str = "the interval") -> list[str]:
    """The warning that a bootstrap over so few blocks deserves, `of` bases each; none of enough."""
    if blocks >= FEWEST_BLOCKS:
        return []
    size = "" if of is None else f" of {counted(of, 'base')}"
    return [f"only {counted(blocks, 'block')}{size}: {interval} is too narrow below {FEWEST_BLOCKS}"]


@dataclass(frozen=True)
class Interval:
    """The percentile interval of a bootstrap."""

    low: float
    high: float

    def scaled(self, factor: float) -> Interval:
        return Interval(self.low * factor, self.high * factor)

    def as_list(self) -> list[float]:
        return [self.low, self.high]


def listed(interval: Interval | None, factor: float = 1.0) -> list[float] | None:
    """As a result file holds it: [low, high], or null where there is none."""
    return None if interval is None else interval.scaled(factor).as_list()


def block_totals(values: ArrayLike, blocks: ArrayLike) -> NDArray[np.float64]:
    """Sums `values` (N,) or (N, C) over the units of each block: (K,) or (K, C), blocks in ascending order."""
    table = np.asarray(values, dtype=np.float64)
    _, index = np.unique(np.asarray(blocks), return_inverse=True)
    totals = np.zeros((int(index.max()) + 1 if index.size else 0, *table.shape[1:]))
    np.add.at(totals, index, table)
    return totals


def block_bootstrap(
    sums: ArrayLike,
    counts: ArrayLike,
    blocks: ArrayLike,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Interval | None:
    """The interval of sum(sums) / sum(counts), both (N,), over blocks (N,) drawn with replacement.

    None where fewer than two blocks have a count: one block says nothing about others. The same seed and the same
    blocks draw the same resamples, so that two quantities over them are compared pairwise.
    """
    return block_bootstraps(np.asarray(sums, dtype=np.float64)[:, None], counts, blocks, resamples, seed, level)[0]


def block_bootstraps(
    sums: ArrayLike,
    counts: ArrayLike,
    blocks: ArrayLike,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[Interval | None]:
    """As `block_bootstrap`, for each column of sums (N, C) in the same resamples; counts is (N,) or (N, C)."""
    tops = np.asarray(sums, dtype=np.float64)
    bottoms = np.broadcast_to(np.asarray(counts, dtype=np.float64).reshape(len(tops), -1), tops.shape)
    tops, bottoms = block_totals(tops, blocks), block_totals(bottoms, blocks)
    draws = _draws(len(tops), resamples, seed)
    ratios = np.concatenate([_ratio(weights @ tops, weights @ bottoms) for weights in draws])
    edges = ((1 - level) / 2, (1 + level) / 2)
    return [
        Interval(*map(float, np.nanquantile(column, edges))) if np.count_nonzero(bottom) > 1 else None
        for column, bottom in zip(ratios.T, bottoms.T, strict=True)
    ]


def resample_weights(blocks: ArrayLike, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[NDArray[np.float64]]:
    """How often each unit (N,) is drawn with its block, (r, N) at a time: for what is no ratio of sums.

    The same seed and the same blocks draw the same resamples, as those of `block_bootstrap`.
    """
    _, index = np.unique(np.asarray(blocks), return_inverse=True)
    step = max(1, 2_000_000 // max(index.size, 1))
    for weights in _draws(int(index.max()) + 1 if index.size else 0, resamples, seed):
        for start in range(0, len(weights), step):
            yield weights[start : start + step, index]


def _ratio(tops: NDArray[np.float64], bottoms: NDArray[np.float64]) -> NDArray[np.float64]:
    # A resample that drew no block with a count (a rare stratum) has no ratio.
    return np.divide(tops, bottoms, out=np.full_like(tops, np.nan), where=bottoms > 0)


def _draws(count: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each of `count` blocks is drawn, (r, K) at a time, in chunks of about 32 MB."""
    rng = np.random.default_rng(seed)
    step = max(1, 4_000_000 // max(count, 1))
    for start in range(0, resamples, step):
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=min(step, resamples - start))
        yield drawn.astype(np.float64)
