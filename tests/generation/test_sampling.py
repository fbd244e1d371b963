"""Draws: the right distribution, only allowed bases, and streams that depend on nothing but their own sequence."""

from __future__ import annotations

import numpy as np
import pytest

from dnagoat.errors import OptionError
from dnagoat.generation.sampling import EVERY, Ban, Sampler, SamplingOptions, Streams, chances, draw

PROMPTS = [np.array([0, 1, 2, 3], np.uint8), np.array([3, 3], np.uint8), np.array([], np.uint8)]
LOG_P = np.log(np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]]))


def test_a_stream_depends_only_on_its_own_prompt_seed_and_sample() -> None:
    together = Streams(7, PROMPTS, [0, 1, 2])
    first = np.stack([together.at(place) for place in range(600)])
    for row, prompt in enumerate(PROMPTS):
        alone = Streams(7, [prompt], [row])
        assert np.array_equal(first[:, row], np.concatenate([alone.at(place) for place in range(600)]))
    other = [Streams(8, PROMPTS, [0, 1, 2]), Streams(7, PROMPTS, [1, 2, 3])]
    assert all(not np.isin(stream.at(0), first[0]).any() for stream in other)


def test_a_stream_begins_where_its_sequence_does() -> None:
    starts = [2, 300, 777]
    late = Streams(1, PROMPTS, [0, 0, 0], starts)
    numbers = np.stack([late.at(position) for position in range(2, 1300)])
    for row, start in enumerate(starts):
        alone = Streams(1, [PROMPTS[row]], [0])
        assert np.array_equal(numbers[start - 2 :, row], [alone.at(place)[0] for place in range(1300 - start)])


def test_streams_are_uniform_and_unrelated() -> None:
    streams = Streams(0, [PROMPTS[0]] * 64, list(range(64)))
    draws = np.stack([streams.at(place) for place in range(2000)])
    assert abs(draws.mean() - 0.5) < 5 * np.sqrt(1 / 12 / draws.size)
    assert np.abs(np.corrcoef(draws.T) - np.eye(64)).max() < 0.12


def test_draws_have_the_frequencies_of_the_distribution() -> None:
    uniform = (np.arange(100_000) + 0.5) / 100_000
    p = np.exp(LOG_P[:1]).repeat(len(uniform), axis=0)
    counts = np.bincount(draw(p, uniform), minlength=4) / len(uniform)
    assert np.allclose(counts, p[0], atol=2e-5)


def test_a_draw_next_to_one_never_takes_a_base_of_probability_zero() -> None:
    p = np.array([[0.3, 0.7 - 1e-17, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1 / 3, 1 / 3, 1 / 3, 0.0]])
    for uniform in (0.0, np.nextafter(1.0, 0.0)):
        assert (p[np.arange(3), draw(p, np.full(3, uniform))] > 0).all()


def test_temperature_zero_is_the_likeliest_base_and_one_changes_nothing() -> None:
    assert chances(LOG_P, SamplingOptions(temperature=0)).argmax(1).tolist() == [0, 3, 0]
    p = chances(LOG_P + 800.0, SamplingOptions())  # what softmax does not see neither overflows nor counts
    assert np.allclose(p / p.sum(axis=1, keepdims=True), np.exp(LOG_P), atol=1e-12)


def test_a_temperature_raises_odds_to_its_inverse() -> None:
    p = chances(LOG_P, SamplingOptions(temperature=2.0))
    assert p[0, 0] / p[0, 3] == pytest.approx(np.sqrt(0.5 / 0.05))


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"top_k": 1}, [[0], [3], [0]]),
        ({"top_k": 3}, [[0, 1, 2], [1, 2, 3], [0, 1, 2]]),
        ({"top_p": 0.79}, [[0, 1], [1, 2, 3], [0, 1, 2, 3]]),
        ({"top_p": 1e-9}, [[0], [3], [0]]),
        ({"top_p": 1.0}, [[0, 1, 2, 3]] * 3),
        ({"top_k": 2, "top_p": 0.1}, [[0], [3], [0]]),
    ],
)
def test_top_k_and_top_p_keep_the_likeliest(options: dict[str, float], kept: list[list[int]]) -> None:
    p = chances(LOG_P, SamplingOptions.model_validate(options))
    assert [np.flatnonzero(row).tolist() for row in p] == kept
    for row, bases in enumerate(kept):
        assert np.allclose(p[row, bases] / p[row, bases[0]], np.exp(LOG_P[row, bases] - LOG_P[row, bases[0]]))


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": 0}, {"top_k": 5}, {"top_p": 0}, {"top_p": 1.5},
     {"gc_target": 1.0}, {"ban_motifs": ("AXE",)}, {"ban_motifs": ("NN",)}, {"seed": -1}],
)  # fmt: skip
def test_options_out_of_range_are_one_sentence(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError) as fault:
        SamplingOptions(**wrong)
    assert next(iter(wrong)) in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_banned_motif_is_never_written_even_across_the_end_of_the_prompt() -> None:
    options = SamplingOptions(ban_motifs=("CG", "gann"), seed=3)
    prompts = [np.array([2, 0, 3, 1], np.uint8)] * 20
    sampler = Sampler(options, prompts, list(range(20)))
    flat = np.full((20, 4), np.log(0.25))
    written = np.stack([sampler.draw(flat, place) for place in range(200)], axis=1)
    for row in written:
        text = "C" + "".join("ACGT"[base] for base in row)
        assert "CG" not in text
        assert "GA" not in text  # GANN: nothing can follow GA


def test_a_ban_sees_its_motif_in_the_prompt() -> None:
    ban = Ban("GAATTC", [np.array([2, 0, 0, 3, 3], np.uint8), np.array([0, 0, 3, 3], np.uint8)])
    assert ban.forbidden(EVERY).tolist() == [[False, True, False, False], [False] * 4]


def test_motifs_that_leave_no_base_are_refused() -> None:
    sampler = Sampler(SamplingOptions(ban_motifs=("W", "S")), PROMPTS, [0, 0, 0])
    with pytest.raises(OptionError, match="leave no base"):
        sampler.draw(LOG_P, 0)


def test_a_gc_target_is_reached_and_its_tilt_is_known() -> None:
    sampler = Sampler(SamplingOptions(gc_target=0.7), PROMPTS, [0, 0, 0])
    log_p = np.log(np.tile([0.3, 0.2, 0.2, 0.3], (3, 1)))
    bases = np.stack([sampler.draw(log_p, place) for place in range(4000)])
    assert np.isin(bases, [1, 2]).mean() == pytest.approx(0.7, abs=5 * np.sqrt(0.21 / bases.size))
    assert sampler.tilt is not None
    assert sampler.tilt.mean() == pytest.approx(np.full(3, np.log(0.7 / 0.3) - np.log(0.4 / 0.6)))


def test_a_temperature_next_to_zero_is_that_of_zero() -> None:
    logits = np.random.default_rng(0).standard_normal((8, 4))
    assert np.array_equal(
        chances(logits, SamplingOptions(temperature=1e-320)), chances(logits, SamplingOptions(temperature=0))
    )
