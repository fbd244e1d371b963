"""The verdict's rule: which of two methods is better?

The seed is the unit for the method, the block of the genome for the bases.

Every arm of a seed shares data order, initial values and scored bases, so that differences are paired. A verdict needs
two intervals to exclude 0 on the same side: the t interval over the per-seed differences (training again would give
others), and the block bootstrap of their mean (another stretch of genome would). Either alone is wrong too often.
"""

# S seeds, n pieces, K blocks

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dnagoat.evaluation.scoring.intervals import LEVEL, RESAMPLES, Interval, block_bootstrap, few_blocks
from dnagoat.wording import counted

Call = Literal["better", "worse", "not distinguishable", "too few seeds"]
FEWEST_SEEDS = 3


@dataclass(frozen=True)
class Judgement:
    """An arm minus the reference in nats per base: negative is better. `by_seed` has one difference a seed."""

    value: float
    by_seed: list[float]
    over_seeds: Interval | None
    over_blocks: Interval | None
    blocks: int

    @property
    def call(self) -> Call:
        """The verdict on the method; with fewer than three seeds there is none."""
        if len(self.by_seed) < FEWEST_SEEDS:
            return "too few seeds"
        sides = {side(interval) for interval in (self.over_seeds, self.over_blocks)}
        if sides == {-1}:
            return "better"
        return "worse" if sides == {1} else "not distinguishable"

    @property
    def models_differ(self) -> bool:
        """Whether these very models differ on such bases: all that can be said without enough seeds."""
        return side(self.over_blocks) != 0

    @property
    def warnings(self) -> list[str]:
        """What a reader must know of the intervals, a sentence each."""
        said = few_blocks(self.blocks, interval="the interval over the genome")
        if len(self.by_seed) < FEWEST_SEEDS:
            say = "says" if len(self.by_seed) == 1 else "say"
            few = f"{counted(len(self.by_seed), 'seed')} {say} something of these models, not of the method"
            said.append(f"{few}; train {FEWEST_SEEDS} or more")
        return said


def judged_split(arms: Sequence[Mapping[str, Any]]) -> Literal["test", "val"]:
    """The split that the verdict on these arms is of: the test split, validation where there is none."""
    return "test" if "test" in arms[0]["splits"] else "val"


def side(interval: Interval | None) -> int:
    """-1 or 1 for an interval below or above 0, 0 for one that holds it and for none."""
    if interval is None or interval.low <= 0 <= interval.high:
        return 0
    return -1 if interval.high < 0 else 1


def judge(
    arm: ArrayLike,
    reference: ArrayLike,
    counts: ArrayLike,
    blocks: ArrayLike,
    *,
    resamples: int = RESAMPLES,
    draw: int = 0,
    level: float = LEVEL,
) -> Judgement:
    """Judges nats summed over pieces, arm and reference (S, n) on the same pieces, with counts and blocks (n,)."""
    differences = np.asarray(arm, dtype=np.float64) - np.asarray(reference, dtype=np.float64)
    bases = np.asarray(counts, dtype=np.float64)
    by_seed = differences.sum(axis=1) / bases.sum()
    return Judgement(
        value=float(by_seed.mean()),
        by_seed=by_seed.tolist(),
        over_seeds=t_interval(by_seed, level),
        over_blocks=block_bootstrap(differences.mean(axis=0), bases, blocks, resamples, draw, level),
        blocks=len(np.unique(np.asarray(blocks)[bases > 0])),
    )


def t_interval(values: NDArray[np.float64], level: float = LEVEL) -> Interval | None:
    """Student's interval of the mean of a few independent values; None of fewer than two."""
    if len(values) < 2:
        return None
    from scipy.stats import t

    half = float(t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    mean = float(values.mean())
    return Interval(mean - half, mean + half)
