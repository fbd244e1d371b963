"""Correlations of GC trajectories: known values, n/a for constant input, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from dnagoat.errors import OptionError
from dnagoat.evaluation.written.trajectory import TrajectoryOptions, correlations, pearson

PROMPTS, WINDOWS = 40, 15


def related(seed: int, strength: float = 0.5, prompts: int = PROMPTS) -> tuple[np.ndarray, np.ndarray]:
    """Predicted and true trajectories that share a level a prompt and noise of their own."""
    rng = np.random.default_rng(seed)
    level = rng.normal(0.4, 0.1, (prompts, 1))
    true = level + rng.normal(0, 0.05, (prompts, WINDOWS))
    return 0.4 + strength * (level - 0.4) + rng.normal(0, 0.05, (prompts, WINDOWS)), true


def test_each_r_is_the_one_that_scipy_computes() -> None:
    predicted, true = related(0)
    found = correlations(predicted, true)
    assert found["pooled"]["r"] == pytest.approx(pearsonr(predicted.ravel(), true.ravel()).statistic, abs=1e-12)
    assert found["averaged"]["r"] == pytest.approx(pearsonr(predicted.mean(0), true.mean(0)).statistic, abs=1e-12)
    each = [pearsonr(x, y) for x, y in zip(predicted, true, strict=True)]
    assert found["per_prompt"]["values"] == pytest.approx([one.statistic for one in each], abs=1e-12)
    assert found["per_prompt"]["r"] == pytest.approx(np.mean([one.statistic for one in each]), abs=1e-12)
    for interval, one in zip(found["per_prompt"]["intervals"], each, strict=True):
        assert interval == pytest.approx([*one.confidence_interval(0.95)], abs=1e-9)


def test_resampled_r_is_that_of_the_resampled_prompts() -> None:
    predicted, true = related(1)
    found = correlations(predicted, true, resamples=400, seed=5)
    rng = np.random.default_rng(5)
    drawn = rng.multinomial(PROMPTS, np.full(PROMPTS, 1 / PROMPTS), size=400)
    rows = [np.repeat(np.arange(PROMPTS), times) for times in drawn]
    pooled = [pearson(predicted[row].ravel(), true[row].ravel()) for row in rows]
    averaged = [pearson(predicted[row].mean(0), true[row].mean(0)) for row in rows]
    assert found["pooled"]["interval"] == pytest.approx(list(np.quantile(pooled, (0.025, 0.975))), abs=1e-9)
    assert found["averaged"]["interval"] == pytest.approx(list(np.quantile(averaged, (0.025, 0.975))), abs=1e-9)


def test_what_is_constant_has_no_correlation() -> None:
    _, true = related(2)
    flat = np.full_like(true, 201 / 512)
    found = correlations(flat, true)
    for name in ("pooled", "averaged", "per_prompt"):
        assert found[name]["r"] is None and found[name]["interval"] is None
    assert found["per_prompt"]["not_applicable"] == PROMPTS and found["per_prompt"]["quartiles"] is None


def test_a_level_a_prompt_held_flat_correlates_only_when_pooled() -> None:
    _, true = related(3)
    levels = np.repeat(np.random.default_rng(3).normal(0.4, 0.1, (PROMPTS, 1)), WINDOWS, axis=1)
    found = correlations(levels, true)
    assert found["pooled"]["r"] is not None
    assert found["averaged"]["r"] is None and found["per_prompt"]["r"] is None


def test_a_single_flat_prompt_is_left_out_of_the_mean() -> None:
    predicted, true = related(4)
    predicted[3] = 0.5
    found = correlations(predicted, true)["per_prompt"]
    assert found["values"][3] is None and found["intervals"][3] is None
    assert (found["count"], found["not_applicable"]) == (PROMPTS - 1, 1)


def test_a_trajectory_follows_itself_and_opposes_its_mirror() -> None:
    _, true = related(5)
    for factor, expected in ((1, 1.0), (-1, -1.0)):
        found = correlations(factor * true, true)
        assert [found[name]["r"] for name in ("pooled", "averaged", "per_prompt")] == pytest.approx([expected] * 3)


def test_intervals_over_prompts_hold_the_truth_where_those_over_windows_do_not() -> None:
    """No relation at all, but a level a prompt: windows as the unit would call it found most of the time."""
    covered, naive = 0, 0
    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        predicted, true = (
            rng.normal(0.4, 0.1, (PROMPTS, 1)) + rng.normal(0, 0.02, (PROMPTS, WINDOWS)) for _ in range(2)
        )
        low, high = correlations(predicted, true, resamples=400)["pooled"]["interval"]
        covered += low <= 0 <= high
        below, above = pearsonr(predicted.ravel(), true.ravel()).confidence_interval(0.95)
        naive += bool(below <= 0 <= above)
    assert covered >= 50
    assert naive <= 35


@pytest.mark.parametrize("wrong", [{"prompts": 1}, {"length": 90}, {"gc_stride": 0}, {"temperature": -0.1}])
def test_options_that_leave_nothing_to_correlate_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        TrajectoryOptions(**wrong)
