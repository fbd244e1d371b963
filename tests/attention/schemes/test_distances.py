"""A prior that starts with distances: each head has its peak where it was told to, of the height that it should."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dnagoat.attention.proof import reference
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.biased_rope import peak_biases
from dnagoat.attention.schemes.distances import distances, peaks
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.waves import DISTANCE_PERIODS, DNA_PERIODS
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.errors import OptionError
from dnagoat.model.transformer import DnaLM
from dnagoat.training.presets import SETTINGS, changed, configure
from tests.goat_settings import goat_settings, wave_settings


def model_config(**goat: object) -> ModelConfig:
    prior = GoatConfig(init="distances", rank=len(DISTANCE_PERIODS), periods=DISTANCE_PERIODS, **goat)
    return ModelConfig(width=128, heads=4, layers=4, position=PositionConfig(settings=prior))


def test_the_rule_names_a_distance_for_every_head_and_repeats_none_in_a_layer() -> None:
    assert distances(4, 4, 0) == ((1, 2, 3, 4), (1, 2, 4, 8), (1, 2, 5, 12), (1, 3, 6, 16))
    for layers, heads in ((1, 1), (4, 2), (12, 12), (3, 16)):
        rows = distances(layers, heads, 0)
        assert len(rows) == layers
        assert all(len(set(row)) == heads and row[0] == 1 for row in rows)


def test_heads_of_the_upper_half_are_free_and_the_others_keep_to_the_rule() -> None:
    assert distances(4, 4) == ((1, 2, 3, 4), (1, 2, 4, 8), (1, 12, None, None), (1, 16, None, None))
    for heads, free in ((1, 0), (2, 1), (3, 1), (4, 2), (7, 3), (8, 4), (12, 6)):
        rows = distances(5, heads)
        assert rows[:2] == distances(2, heads, 0)
        for layer, row in enumerate(rows[2:], 2):
            assert row[heads - free :] == (None,) * free
            assert row[: heads - free] == distances(5, heads - free, 0)[layer]
    assert distances(1, 4) == ((1, 4, None, None),)
    assert distances(2, 4, 4) == ((1, 2, 3, 4), (None,) * 4)


@pytest.mark.parametrize("form", ["own", "authors"])
def test_a_free_head_starts_with_no_prior_at_all(form: str) -> None:
    config = ModelConfig(
        width=128, heads=4, layers=2, position=PositionConfig(settings=GoatConfig(form=form, init="distances"))
    )
    at = torch.arange(500)
    lower, upper = DnaLM(config).attentions()
    for attention, free in ((lower, 0), (upper, 2)):
        prior = attention.scheme.log_prior(at[-1:], at)[:, 0]
        spread = prior.amax(-1) - prior.amin(-1)
        assert (spread < 1e-4).sum() == free and spread[: 4 - free].min() > 6


@pytest.mark.parametrize("parts", [("spectral",), ("spectral", "recency"), ("spectral", "sink", "recency")])
def test_every_head_starts_with_its_peak_at_its_distance(parts: tuple[str, ...]) -> None:
    model = DnaLM(model_config(parts=parts))
    for attention, row in zip(model.attentions(), distances(4, 4), strict=True):
        prior = attention.scheme.log_prior(torch.tensor([200]), torch.arange(160, 201))[:, 0]
        assert all(40 - int(head.argmax()) == distance for head, distance in zip(prior, row, strict=True) if distance)


def test_the_log_prior_is_amplitude_times_the_sum_of_cosines() -> None:
    at, amplitude = (1, 7, 20), 0.5
    frequencies = 2 * torch.pi / torch.tensor(DISTANCE_PERIODS, dtype=torch.float64)
    even, odd = peaks(at, frequencies, amplitude)
    back = torch.arange(64, dtype=torch.float64)
    waves = back[:, None] * frequencies
    given = even @ waves.cos().T + odd @ waves.sin().T
    stated = amplitude * torch.stack([((back - d)[:, None] * frequencies).cos().sum(-1) for d in at])
    torch.testing.assert_close(given, stated, rtol=0, atol=1e-12)
    assert given.argmax(-1).tolist() == list(at)
    assert given.max(-1).values.tolist() == pytest.approx([amplitude * len(DISTANCE_PERIODS)] * 3)


@pytest.mark.parametrize("parts", [("spectral",), ("spectral", "recency")])
def test_the_default_waves_meet_again_every_168_bases_and_recency_alone_lowers_them(parts: tuple[str, ...]) -> None:
    scheme: Any = next(DnaLM(model_config(parts=parts)).attentions()).scheme
    back = torch.arange(600)
    prior = scheme.log_prior(torch.tensor([599]), 599 - back)[:, 0]
    slopes = scheme.parts["recency"].slopes.tolist() if "recency" in parts else [0.0] * 4
    for curve, slope, peak in zip(prior.tolist(), slopes, (1, 2, 3, 4), strict=True):
        for beyond, height in ((168, 6), (336, 6), (72, 5.623), (96, 5.623)):
            assert curve[peak + beyond] - curve[peak] == pytest.approx(height - 6 - slope * beyond, abs=1e-3)


def test_distances_given_by_hand_and_their_faults() -> None:
    model = DnaLM(model_config(distances=((5, 6, 7, 9),) * 4, amplitude=2.0))
    scheme = next(model.attentions()).scheme
    prior = scheme.log_prior(torch.tensor([100]), torch.arange(76, 101))[:, 0]
    assert (24 - prior.argmax(-1)).tolist() == [5, 6, 7, 9]
    with pytest.raises(OptionError, match="distances must name 4 heads in each of 4 layers"):
        model_config(distances=((1, 2),) * 4)
    with pytest.raises(OptionError, match="0 or more bases back"):
        model_config(distances=((1, 2, 3, -4),) * 4)


def test_options_name_the_start_with_its_periods_and_its_distances() -> None:
    base = configure("tiny", "data", "hash", 512, {"model.heads": 2})
    goat = goat_settings(
        changed(
            base, {"model.position.settings.init": "distances"} | {SETTINGS + "distances": "1/2,1/4,1/8,1/12"}
        ).model
    )
    assert goat.periods == DISTANCE_PERIODS and goat.rank == 6
    assert goat.distances == ((1, 2), (1, 4), (1, 8), (1, 12))
    some = {SETTINGS + "goat-distances": "1/-,-/4,1/8,1/12"}
    assert changed(base, some).model.position.settings.written()["goat-distances"] == "1/-,-/4,1/8,1/12"
    assert goat_settings(changed(base, {"model.position.settings.init": "uniform"}).model).periods == DNA_PERIODS
    assert (
        base.model.position.settings
        == changed(base, {"model.position.settings.init": "distances"}).model.position.settings
    )  # what `goat` alone means


@pytest.mark.parametrize("other", [{"init": "seeded"}, {"init": "uniform"}, {"parts": ("sink", "recency")}])
def test_distances_that_nothing_would_start_at_are_refused(other: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="distances, free and amplitude are where a spectral part"):
        GoatConfig(distances=((1, 2),), **other)


@pytest.mark.parametrize("form", ["own", "authors"])
def test_slopes_start_where_they_are_told_to(form: str) -> None:
    slopes = ((0.25, 0.0, 0.0625, 1.0),) * 3 + ((0.0, 0.0, 0.5, 0.001),)
    base = configure("tiny", "data", "hash", 512, {"model.heads": 4, SETTINGS + "goat-form": form})
    text = "0.25/0/0.0625/1,0.25/0/0.0625/1,0.25/0/0.0625/1,0/0/0.5/0.001"
    config = changed(base, {SETTINGS + "goat-slopes": text}).model
    assert goat_settings(config).slopes == slopes and goat_settings(config).written()["goat-slopes"] == text
    for attention, row in zip(DnaLM(config).attentions(), slopes, strict=True):
        found = attention.scheme.recency()
        assert found is not None and found.tolist() == pytest.approx(list(row), rel=1e-5, abs=1e-12)


def test_free_heads_are_told_by_an_option_and_their_faults_are_sentences() -> None:
    base = configure("tiny", "data", "hash", 512, {})
    config = changed(base, {SETTINGS + "goat-free": "2"}).model
    assert goat_settings(config).written()["goat-free"] == "2"
    found = [attention.scheme.recency() for attention in DnaLM(config).attentions()]
    assert [slopes.tolist() for slopes in found if slopes is not None] == [[0.25, *[1 / 16] * 3]] * 2 + [
        [0.25, 1 / 16, 0.0, 0.0]
    ] * 2
    with pytest.raises(OptionError, match="free of 5 is more than the 4 heads"):
        model_config(free=5)
    with pytest.raises(OptionError, match="give one of them"):
        model_config(free=1, distances=((1, 2, 3, 4),) * 4)
    with pytest.raises(OptionError, match="distances, free and amplitude"):
        GoatConfig(init="seeded", free=1)


def test_faults_of_slopes_are_sentences() -> None:
    with pytest.raises(OptionError, match="slopes must name 4 heads in each of 4 layers"):
        model_config(slopes=((0.1, 0.2),) * 4)
    with pytest.raises(OptionError, match="a slope is 0 or more nats a base"):
        model_config(slopes=((0.1, 0.2, -0.1, 0.0),) * 4)
    with pytest.raises(OptionError, match="slopes are where the part recency starts"):
        model_config(parts=("spectral",), slopes=((0.1, 0.2, 0.1, 0.0),) * 4)


def test_a_head_may_start_without_a_peak() -> None:
    frequencies = 2 * torch.pi / torch.tensor(DISTANCE_PERIODS, dtype=torch.float64)
    for coefficients in (*peaks((3, None), frequencies, 1.0), *peak_biases((3, None), frequencies, 1.0, 32)):
        assert coefficients[0].abs().max() > 0 and (coefficients[1] == 0).all()


def test_a_rope_with_biases_starts_with_the_same_kernel() -> None:
    goat = GoatConfig(parts=("spectral",), periods=DISTANCE_PERIODS, rank=6, init="distances")
    kernels = []
    for name in ("goat", "rope+bias"):
        config = ModelConfig(
            width=128, heads=2, layers=2, context=64, position=PositionConfig(name=name, settings=goat)
        )
        attention = next(DnaLM(config).double().attentions())
        scheme, at = attention.scheme, torch.arange(40)
        if name == "goat":
            kernels.append(scheme.log_prior(at, at))
        else:  # without content the score is the kernel
            nothing = torch.zeros(1, 2, 40, 64, dtype=torch.float64)
            q, k, _ = scheme.rotate(nothing, nothing.clone(), At(at))
            kernels += [(q @ k.mT)[0] / scheme.root, scheme.kernel(at, at)]
            x = torch.randn(1, 40, 128, dtype=torch.float64)
            torch.testing.assert_close(attention(x, At(at)), reference.attention(attention, x))
    torch.testing.assert_close(kernels[0], kernels[1], rtol=0, atol=2e-6)
    torch.testing.assert_close(kernels[1], kernels[2])


def test_waves_chosen_by_hand_and_sparse_weights_start_seeded_unless_distances_are_asked_for() -> None:
    goat = "model.position.settings."
    base, paper = configure("tiny", "data", "hash", 512, {}), configure("paper", "data", "hash", 512, {})
    by_hand = {goat + "rank": 2, goat + "periods": (3.0, 171.0)}
    assert goat_settings(changed(base, by_hand).model).init == "seeded"
    assert goat_settings(changed(base, {**by_hand, goat + "init": "distances"}).model).init == "distances"
    biased = wave_settings(changed(base, {**by_hand, "model.position.name": "rope+bias"}).model)
    assert biased.init == "distances"
    sparse = goat_settings(changed(base, {"model.normaliser": "entmax15"}).model)
    assert (sparse.init, sparse.periods) == ("seeded", DNA_PERIODS)
    uniform = goat_settings(changed(paper, {goat + "init": "uniform"}).model)
    assert (uniform.init, uniform.rank, uniform.periods) == ("uniform", 2, None)  # the preset's own waves


@pytest.mark.parametrize(("layers", "heads"), [(4, 4), (6, 4), (12, 12)])
def test_no_slope_hides_a_peak(layers: int, heads: int) -> None:
    model = DnaLM(ModelConfig(width=64 * heads, heads=heads, layers=layers, mlp_width=64))
    at = torch.arange(60)
    for attention, row in zip(model.attentions(), distances(layers, heads), strict=True):
        prior = attention.scheme.log_prior(at[-1:], at)[:, 0]
        assert all(59 - int(head.argmax()) == distance for head, distance in zip(prior, row, strict=True) if distance)
