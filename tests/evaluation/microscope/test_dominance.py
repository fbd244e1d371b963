"""A wave that stands out in every head is found; where none does, none is reported more often than promised."""

from __future__ import annotations

import numpy as np

from dnagoat.evaluation.microscope.dominance import rank_waves


def test_a_planted_wave_is_found() -> None:
    sizes = np.random.default_rng(0).random((8, 6))
    sizes[:, 2] += 0.8
    ranks, chances = rank_waves(sizes, shuffles=500)
    assert int(np.argmax(ranks)) == 2
    assert chances[2] < 0.01
    assert min(chances[:2] + chances[3:]) > 0.2


def test_without_a_planted_wave_few_are_reported() -> None:
    random = np.random.default_rng(1)
    found = [min(rank_waves(random.random((8, 6)), seed, shuffles=200)[1]) <= 0.05 for seed in range(100)]
    assert sum(found) <= 10


def test_equal_waves_stand_out_nowhere() -> None:
    ranks, chances = rank_waves(np.ones((4, 5)), shuffles=50)
    assert ranks == [3.0] * 5
    assert chances == [1.0] * 5
