"""The rule of the verdict, tried on comparisons whose truth is known: rarely wrong, and not blind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dnagoat.evaluation.comparison.judgement import speed_ratio
from dnagoat.evaluation.scoring.verdict_rule import Judgement, judge, t_interval

SEEDS, BLOCKS, PER_BLOCK, BASES = 3, 60, 4, 512
# Spreads as the tiny model shows them on chromosome 21: of the paired difference between seeds, and between blocks of
# 20,000 bases.
SEED_SD, BLOCK_SD, PIECE_SD = 0.002, 0.01, 0.02


def comparison(planted: float, dice: np.random.Generator) -> Judgement:
    """Two arms whose NLL differ by `planted` over all genomes and seeds, on one genome with a few seeds."""
    pieces = BLOCKS * PER_BLOCK
    blocks = np.repeat(np.arange(BLOCKS), PER_BLOCK)
    hard = 1.3 + 0.1 * dice.standard_normal(pieces)  # what both arms find hard
    genome = BLOCK_SD * dice.standard_normal(BLOCKS)[blocks]
    training = SEED_SD * dice.standard_normal((SEEDS, 1))
    noise = PIECE_SD * dice.standard_normal((SEEDS, pieces))
    reference = np.broadcast_to(BASES * hard, (SEEDS, pieces))
    return judge(
        reference + BASES * (planted + genome + training + noise),
        reference,
        np.full(pieces, BASES),
        blocks,
        resamples=500,
    )


def test_null_comparisons_are_rarely_called() -> None:
    dice = np.random.default_rng(1)
    calls = [comparison(0.0, dice).call for _ in range(200)]
    assert sum(call in ("better", "worse") for call in calls) <= 0.08 * 200


def test_either_interval_alone_would_be_called_too_often() -> None:
    """The reason for the rule: blocks without the seeds as the unit take a lucky training for a better method."""
    dice = np.random.default_rng(2)
    found = [comparison(0.0, dice) for _ in range(200)]
    assert sum(one.models_differ for one in found) > 0.08 * 200


@pytest.mark.parametrize(("planted", "call"), [(-0.01, "better"), (0.01, "worse")])
def test_a_hundredth_of_a_nat_is_found(planted: float, call: str) -> None:
    dice = np.random.default_rng(3)
    calls: list[str] = [comparison(planted, dice).call for _ in range(200)]
    assert calls.count(call) >= 0.8 * 200
    assert {"better", "worse"} & set(calls) == {call}


def test_the_difference_is_a_ratio_of_sums() -> None:
    counts = np.array([100.0, 300.0, 0.0])
    found = judge([[110, 310, 0], [90, 330, 0]], [[100, 300, 0], [100, 300, 0]], counts, [0, 1, 2])
    assert found.by_seed == pytest.approx([20 / 400, 20 / 400]) and found.value == pytest.approx(0.05)
    assert found.blocks == 2  # one without a scored base says nothing


def test_students_interval() -> None:
    values = np.array([0.01, 0.013, 0.008, 0.011])
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    interval = t_interval(values)
    assert interval is not None and (interval.low, interval.high) == pytest.approx((low, high))
    assert t_interval(values[:1]) is None


def test_few_seeds_and_few_blocks_are_said() -> None:
    one = judge([[-50.0, -60.0, -55.0]], [[0.0, 0.0, 0.0]], [512, 512, 512], [0, 1, 2])
    assert one.call == "too few seeds" and one.models_differ
    assert len(one.warnings) == 2 and "only 3 blocks" in one.warnings[0]


def test_speeds_of_a_machine_that_did_other_work_are_not_compared() -> None:
    assert speed_ratio([100.0, 110.0, 90.0], [200.0, 210.0, 190.0]) == 0.5
    assert speed_ratio([100.0, 200.0, 110.0], [200.0, 210.0, 190.0]) is None
    assert speed_ratio([100.0], [50.0]) == 2.0
