"""An arm's name is a configuration; arms of a seed share what they can share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.comparison.arms import of_arm, run_folder
from dnagoat.genome.dataset import Dataset
from dnagoat.model.initial import initialise
from dnagoat.model.transformer import DnaLM
from dnagoat.training.feed import Feed
from dnagoat.training.step.matching import count
from tests.goat_settings import goat_settings


def test_names_become_configurations(config: RunConfig) -> None:
    parts = of_arm(config, "goat:spectral+sink", seed=3)
    assert (goat_settings(parts.model).parts, parts.train.seed) == (("spectral", "sink"), 3)
    assert of_arm(config, "goat:spectral,sink", seed=3) == parts
    periods = goat_settings(of_arm(config, "goat@periods=3/171@init=uniform", seed=0).model)
    assert (periods.periods, periods.rank, periods.init) == ((3.0, 171.0), 2, "uniform")
    assert of_arm(config, "goat@rank=4@init=seeded", seed=0) == of_arm(config, "goat@init=seeded@rank=4", seed=0)
    rotated = of_arm(config, "goat+rope:recency@momentum=0.3", seed=0, lr=0.5)
    assert rotated.model.position.name == "goat+rope" and rotated.train.lr == 0.5
    rival = of_arm(config, "alibi@convolution=4@heads=2", seed=0).model
    assert (rival.position.convolution, rival.heads) == (4, 2)
    assert rotated.model.position.momentum is not None and rotated.model.position.momentum.strength == 0.3


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("elephant", "'elephant'"),
        ("rope:sink", "rope has no parts"),
        ("goat:tail", "'tail'"),
        ("goat@colour=red", "@colour=red is none of"),
        ("goat@rank=many", "many cannot be read as rank"),
        ("goat@lr=1e-3@lr=2e-3", "@lr is given twice"),
        ("goat@free=1@gate@free=2", "@free is given twice"),
        ("goat@optimizer=", "@optimizer wants a value"),
        ("goat@free", "@free wants a value"),
    ],
)
def test_a_wrong_name_is_one_sentence(config: RunConfig, arm: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        of_arm(config, arm, seed=0)


def test_arms_have_folders_of_their_own() -> None:
    arms = ["rope", "goat", "goat:spectral", "goat:spectral+sink", "goat+rope", "goat@init=uniform"]
    folders = {run_folder(Path("out"), arm, seed, lr) for arm in arms for seed in (0, 1) for lr in (None, 1e-3, 3e-4)}
    assert len(folders) == len(arms) * 2 * 3
    lists = ["1/2/3/4,-/-/-/-", "-/-/-/-,1/2/3/4", "1/2,1/4", "1/2/1/4"]
    assert len({run_folder(Path("out"), f"goat@distances={text}", 0) for text in lists}) == len(lists)
    assert run_folder(Path("out"), "goat:spectral", 1, 3e-4) == Path("out/goat-spectral-lr0.0003-s1")


def test_arms_of_a_seed_share_bases_and_initial_values(config: RunConfig, dataset: Dataset) -> None:
    configs = [of_arm(config, arm, seed=4) for arm in ("rope", "goat", "goat:recency")]
    models = [DnaLM(one.model) for one in configs]
    for model in models:
        initialise(model, 4)
    plain, *others = (dict(model.named_parameters()) for model in models)
    for other in others:
        for name in plain.keys() & other.keys():
            if plain[name].shape == other[name].shape:
                assert torch.equal(plain[name], other[name]), name
            else:  # narrower queries and keys: the leading rows of the head
                assert torch.equal(plain[name][: len(other[name])], other[name]), name
    batches = [Feed.of(dataset, one.train).batch(2) for one in configs]
    assert all(np.array_equal(batches[0], batch) for batch in batches)
    assert not np.array_equal(batches[0], Feed.of(dataset, of_arm(config, "rope", seed=5).train).batch(2))


def test_matched_arms(config: RunConfig) -> None:
    sizes = {count(of_arm(config, arm, seed=0, match=True).model) for arm in ("rope", "goat", "alibi", "goat:sink")}
    assert max(sizes) - min(sizes) <= 2 * config.model.width * config.model.layers


def test_the_draws_of_a_step_do_not_depend_on_the_steps_before(config: RunConfig, dataset: Dataset) -> None:
    """Steps are drawn in chunks: step 130 is the same whether it is asked first or last."""
    feed = Feed.of(dataset, config.train.but(jitter=9))
    in_order = [feed.batch(step) for step in range(1, 131)]
    assert np.array_equal(Feed.of(dataset, feed.train).batch(130), in_order[-1])
    assert np.array_equal(feed.batch(1), in_order[0])
