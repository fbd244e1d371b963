"""Options become a configuration: paths, presets, recipes, matched parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.waves import DISTANCE_PERIODS
from dnagoat.config import MomentumConfig, PositionConfig, RunConfig
from dnagoat.errors import OptionError
from dnagoat.model.transformer import DnaLM
from dnagoat.training.presets import NAME, PRESETS, SETTINGS, changed, configure, preset
from dnagoat.training.step.matching import count, matched
from dnagoat.training.step.schedule import apply_recipe, learning_rate
from tests.goat_settings import goat_settings


def test_paper_is_the_authors_run() -> None:
    model, train = preset("paper")
    goat = goat_settings(model)
    assert (model.width, model.heads, model.layers, model.mlp_width, model.context) == (512, 8, 8, 2048, 1024)
    assert (goat.rank, goat.periods, goat.ladder_base, goat.sink_frequencies, goat.init) == (2, None, 1e4, 8, "seeded")
    assert (goat.form, goat.sink_width, model.position.name, model.head_width) == ("authors", 4, "goat", 64)
    assert (train.steps, train.batch_size, train.lr, train.warmup, train.schedule) == (1000, 8, 3e-4, 100, "cosine")
    assert (train.weight_decay, train.clip, train.precision, train.recipe) == (0.1, 1.0, "bf16", "none")
    assert not train.reverse_complement and train.eval_windows == 50 * 8


def test_the_authors_form_comes_with_its_start_and_its_waves(config: RunConfig) -> None:
    goat = "model.position.settings."
    paper = preset("paper")[0].position.settings
    chosen = changed(config, {goat + "form": "authors"}).model.position.settings
    assert chosen == paper
    eight = {goat + "form": "authors", goat + "rank": 8}
    assert changed(config, eight).model.position.settings == paper.but(rank=8)
    other = goat_settings(changed(config, {goat + "form": "authors", goat + "init": "distances"}).model)
    assert (other.periods, other.sink_width) == (DISTANCE_PERIODS, 4)
    own = changed(configure("paper", "d", "h", 1024, {}), {goat + "form": "own"}).model.position.settings
    assert own == GoatConfig(init="seeded", rank=2, periods=None)
    with pytest.raises(OptionError, match="there are 'own' or 'authors'"):
        changed(config, {goat + "form": "theirs"})


@pytest.mark.parametrize("content", [1, 65])
def test_a_content_is_no_wider_than_a_head(config: RunConfig, content: int) -> None:
    with pytest.raises(OptionError, match="content"):
        changed(config, {"model.content": content})


def test_an_odd_content_cannot_be_turned() -> None:
    model = configure("paper", "d", "h", 1024, {"model.content": 59, "model.position.name": "rope"}).model
    with pytest.raises(OptionError, match="content of 59 cannot be turned in pairs"):
        count(model)
    assert abs(count(matched(model.but(position=PositionConfig()))) - count(model.but(content=None))) <= 512 * 8


@pytest.mark.parametrize("name", PRESETS)
def test_heads_are_64_wide_but_where_a_layer_would_have_two(name: str) -> None:
    assert preset(name)[0].head_width == (32 if name == "tiny" else 64)


def test_an_option_reaches_its_field_and_leaves_the_rest(config: RunConfig) -> None:
    goat = "model.position.settings."
    other = changed(config, {goat + "rank": 3, "train.lr": 0.5, "train.seed": None})
    assert (goat_settings(other.model).rank, goat_settings(other.model).periods) == (3, None)
    assert goat_settings(config.model).periods == DISTANCE_PERIODS
    assert other.train == config.train.but(lr=0.5)
    momentum = MomentumConfig(strength=0.5)
    assert changed(config, {"model.position.momentum": momentum}).model.position.momentum == momentum


def test_another_optimizer_brings_its_rate_unless_one_is_given() -> None:
    def rate(preset: str, options: Mapping[str, object], then: Mapping[str, object]) -> float:
        return changed(configure(preset, "d", "h", 512, options), then).train.lr

    muon, adamw = {"train.optimizer": "muon"}, {"train.optimizer": "adamw"}
    assert rate("tiny", {}, {}) == rate("tiny", adamw, muon) == 8e-3
    assert rate("tiny", {}, adamw) == rate("tiny", adamw, {}) == 1e-3
    assert (rate("small", {}, {}), rate("small", {}, adamw)) == (3e-3, 6e-4)
    assert rate("125m", {}, {}) == rate("125m", muon, {}) == 6e-4
    assert rate("tiny", {"train.lr": 3e-3}, adamw) == rate("tiny", {}, {**adamw, "train.lr": 3e-3}) == 3e-3
    assert rate("tiny", {**adamw, "train.lr": 3e-3}, {}) == 3e-3


def test_the_window_is_the_datasets(config: RunConfig) -> None:
    assert config.model.context == 64
    with pytest.raises(OptionError, match="tiny, small, paper, 125m"):
        configure("huge", "data", "hash", 64, {})


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_the_rate_climbs_and_comes_down_to_almost_nothing(config: RunConfig, schedule: str) -> None:
    train = config.train.but(schedule=schedule, steps=110, warmup=10, lr=1.0)
    rates = [learning_rate(train, step) for step in range(1, 111)]
    assert rates[:11] == pytest.approx([0.1 * k for k in range(1, 11)] + [1.0])
    assert all(a > b for a, b in pairwise(rates[10:]))
    assert rates[-1] == pytest.approx(0.01 if schedule == "linear" else 0.5 * (1 + math.cos(math.pi * 0.99)))


def test_the_recipe_of_the_literature(config: RunConfig) -> None:
    train = config.train.but(recipe="goat", lr=1e-3, warmup=100, schedule="cosine")
    assert apply_recipe(train) == train.but(schedule="linear", lr=7.5e-4, warmup=115)
    assert apply_recipe(config.train) == config.train


@pytest.mark.parametrize("position", ["goat", "alibi", "goat+rope", "rope+bias", "sinusoidal"])
@pytest.mark.parametrize("size", ["tiny", "paper"])
def test_matched_arms_have_as_many_parameters(size: str, position: str) -> None:
    model = changed(configure(size, "d", "h", 512, {}), {"model.position.name": position}).model
    reference = changed(configure(size, "d", "h", 512, {}), {"model.position.name": "rope"}).model
    assert abs(count(matched(model)) - count(reference)) <= model.width * model.layers
    assert matched(reference) == reference


def test_counted_without_being_built(config: RunConfig) -> None:
    assert count(config.model) == sum(p.numel() for p in DnaLM(config.model).parameters())


@pytest.mark.parametrize("number", [math.inf, math.nan])
@pytest.mark.parametrize("path", ["train.lr", "model.position.settings.amplitude", "model.position.settings.periods"])
def test_no_setting_is_infinite(config: RunConfig, path: str, number: float) -> None:
    value = (number,) * 6 if path.endswith("periods") else number
    with pytest.raises(OptionError, match=path.rpartition(".")[2]):
        changed(config, {path: value})


def test_a_seed_has_64_bits(config: RunConfig) -> None:
    assert config.train.but(seed=2**64 - 1).seed == 2**64 - 1
    with pytest.raises(OptionError, match="seed"):
        config.train.but(seed=2**64)


@pytest.mark.parametrize("layer", [-1, 2])
def test_momentum_is_in_a_layer_that_there_is(config: RunConfig, layer: int) -> None:
    with pytest.raises(OptionError, match=f"momentum in layer {layer}: layers are 0 to 1"):
        changed(config, {"model.position.momentum": MomentumConfig(strength=0.5, layers=(0, layer))})


def test_an_option_that_would_change_nothing_is_refused(config: RunConfig) -> None:
    def with_(position: str, options: dict[str, Any]) -> RunConfig:
        return changed(config, {NAME: position, **options})

    for position, path in (
        ("rope", SETTINGS + "rank"),
        ("goat", SETTINGS + "rope_base"),
        ("rope", SETTINGS + "goat-rank"),
    ):
        with pytest.raises(OptionError, match=f"{position} has none"):
            with_(position, {path: 4})
        with_("goat+rope", {path: 4})
        with_(position, {path: None, "train.lr": 0.1})
    with_("rope+bias", {SETTINGS + "init": "distances", SETTINGS + "amplitude": 2.0})
    with pytest.raises(OptionError, match="rope\\+bias has none"):
        with_("rope+bias", {SETTINGS + "sink_width": 8})
