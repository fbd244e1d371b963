"""The order of training is a pure function of the seed and the sample's number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnagoat.genome.alphabet import encode
from dnagoat.genome.batches import IGNORE, gather, order, sample, shifted, to_inputs_targets


@given(st.integers(1, 500), st.integers(0, 2**31), st.integers(0, 5))
def test_an_epoch_holds_every_window_once(count: int, seed: int, epoch: int) -> None:
    assert sorted(order(count, seed, epoch).tolist()) == list(range(count))


def test_order_is_the_same_on_every_machine() -> None:
    # Written down once: a change here would make old runs impossible to resume or to compare.
    assert order(8, 0, 0).tolist() == [4, 0, 5, 3, 6, 1, 2, 7]
    assert sample(7, np.arange(6), 4, jitter=3).windows.tolist() == [3, 2, 1, 0, 0, 1]


@given(st.integers(1, 40), st.integers(0, 1000), st.integers(1, 100), st.integers(0, 20))
def test_samples_do_not_depend_on_how_they_are_batched(count: int, seed: int, total: int, jitter: int) -> None:
    whole = sample(seed, np.arange(total), count, jitter)
    single = [sample(seed, np.array([index]), count, jitter) for index in range(total)]
    for field in range(3):
        assert whole[field].tolist() == [one[field][0] for one in single]
    for epoch in range(total // count):
        assert sorted(whole.windows[epoch * count : (epoch + 1) * count]) == list(range(count))


def test_seeds_epochs_strands_and_shifts_differ_and_are_fair() -> None:
    assert order(1000, 0, 0).tolist() != order(1000, 0, 1).tolist()
    assert order(1000, 0, 0).tolist() != order(1000, 1, 0).tolist()
    samples = sample(0, np.arange(40_000), 1000, jitter=2)
    assert samples.reverse_complement.mean() == pytest.approx(0.5, abs=0.01)
    assert np.bincount(samples.shifts + 2) / 40_000 == pytest.approx(0.2, abs=0.01)
    assert abs(np.corrcoef(samples.reverse_complement, samples.shifts)[0, 1]) < 0.02
    # Nor does the strand follow the order of the windows.
    assert abs(np.corrcoef(samples.reverse_complement[:1000], samples.windows[:1000])[0, 1]) < 0.1


def test_without_jitter_nothing_moves_and_with_it_nothing_leaves_its_room() -> None:
    samples = sample(3, np.arange(100), 10)
    assert not samples.shifts.any()
    room = np.array([[0, 5], [10, 90]])
    assert shifted(np.array([4, 12]), np.array([9, -9]), room).tolist() == [5, 10]


def test_gather_cuts_windows_and_takes_the_mask_off() -> None:
    tokens = encode("ACGTNACGTN") | np.uint8(8)
    assert gather(tokens, np.array([0, 3, 6]), 4).tolist() == [[0, 1, 2, 3], [3, 4, 0, 1], [1, 2, 3, 4]]


def test_all_bases_are_scored_but_n() -> None:
    inputs, targets = to_inputs_targets(encode("ANGT")[None])
    assert inputs.tolist() == [[5, 0, 4, 2]]
    assert targets.tolist() == [[0, IGNORE, 2, 3]]
    assert (inputs.dtype, targets.dtype) == (np.int64, np.int64)


def test_the_authors_protocol_scores_n_and_drops_the_first() -> None:
    inputs, targets = to_inputs_targets(encode("ANGT")[None], score_n=True)
    assert inputs.tolist() == [[0, 4, 2]]
    assert targets.tolist() == [[4, 2, 3]]
