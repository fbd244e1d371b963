"""The block bootstrap: its coverage, what a block changes, and where it declines to answer."""

import numpy as np
import pytest

from dnagoat.evaluation.scoring.intervals import block_bootstrap, block_bootstraps, block_totals


def test_totals_of_blocks() -> None:
    assert block_totals([1, 2, 4, 8], [7, 3, 7, 3]).tolist() == [10, 5]
    assert block_totals([[1, 10], [2, 20]], [0, 0]).tolist() == [[3, 30]]


def test_equal_blocks_leave_no_uncertainty() -> None:
    interval = block_bootstrap(np.full(40, 12.0), np.full(40, 10.0), np.arange(40))
    assert interval is not None
    assert interval.as_list() == pytest.approx([1.2, 1.2])


def test_one_block_has_no_interval() -> None:
    assert block_bootstrap([1.0, 2.0], [1, 1], [0, 0]) is None
    assert block_bootstraps([[1.0, 1.0], [2.0, 0.0]], [[1, 1], [1, 0]], [0, 1])[1] is None


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for trial in range(200):
        counts = rng.integers(500, 1500, 60)
        sums = counts * (1.3 + rng.normal(0, 0.1, 60))
        interval = block_bootstrap(sums, counts, np.arange(60), resamples=500, seed=trial)
        assert interval is not None
        hits += interval.low <= 1.3 <= interval.high
    assert 0.90 <= hits / 200 <= 0.98


def test_blocks_widen_what_single_windows_would_claim() -> None:
    """Twenty windows of one block share its level: the interval over windows is too narrow by about the root of 20."""
    rng = np.random.default_rng(2)
    blocks = np.repeat(np.arange(50), 20)
    sums = 1.3 + rng.normal(0, 0.1, 50)[blocks]
    counts = np.ones(1000)
    by_block = block_bootstrap(sums, counts, blocks)
    by_window = block_bootstrap(sums, counts, np.arange(1000))
    assert by_block is not None
    assert by_window is not None
    ratio = (by_block.high - by_block.low) / (by_window.high - by_window.low)
    assert ratio == pytest.approx(20**0.5, rel=0.1)


def test_columns_share_their_resamples() -> None:
    """A constant gain over a noisy baseline is certain, because both see the same blocks."""
    rng = np.random.default_rng(3)
    model, counts = rng.normal(1.2, 0.1, 50) * 100, np.full(50, 100)
    baseline = model + 5
    gain, level = block_bootstraps(np.stack([baseline - model, model], axis=1), counts, np.arange(50))
    assert gain is not None
    assert level is not None
    assert gain.as_list() == pytest.approx([0.05, 0.05])
    assert level.high - level.low > 0.02


def test_same_seed_same_interval() -> None:
    sums, counts = np.random.default_rng(4).random(40), np.ones(40)
    first = block_bootstrap(sums, counts, np.arange(40), seed=5)
    assert first == block_bootstrap(sums, counts, np.arange(40), seed=5)
    assert first != block_bootstrap(sums, counts, np.arange(40), seed=6)
