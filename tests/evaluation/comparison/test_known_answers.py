"""Comparisons whose answer was planted: what a part is for, it wins; where nothing is, nothing is found."""

# W window, P period

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dnagoat.evaluation.comparison.arms import of_arm, run_folder
from dnagoat.evaluation.comparison.judgement import Arm, judge_arms
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.loop import train
from dnagoat.training.presets import configure

WINDOW, PERIOD, SEEDS, BLOCK = 48, 7, 3, 480
WINDOWS = {"train": 800, "val": 50, "test": 400}
OPTIONS = {
    "model.width": 64,
    "model.heads": 1,
    "model.layers": 1,
    "model.mlp_width": 64,
    "model.position.settings.periods": (float(PERIOD), PERIOD / 2),
    "model.position.settings.rank": 2,
    "model.position.settings.sink_width": 16,
    "train.steps": 100,
    "train.batch_size": 16,
    "train.lr": 3e-3,
    "train.prior_lr_scale": 20.0,
    "train.warmup": 10,
    "train.eval_every": 50,
    "train.checkpoint_every": 1000,
    "train.eval_windows": 50,
    "train.reverse_complement": False,
}
Codes = np.ndarray[Any, np.dtype[np.int64]]


def periodic(count: int, dice: np.random.Generator) -> Codes:
    """(count, W): each window repeats a word of its own with period P, one base in ten is random."""
    words = dice.integers(0, 4, (count, PERIOD))
    bases = np.take(words, np.arange(WINDOW) % PERIOD, axis=1)
    return np.where(dice.random(bases.shape) < 0.1, dice.integers(0, 4, bases.shape), bases)


def anchored(count: int, dice: np.random.Generator) -> Codes:
    """(count, W): every base is the window's first one four times in ten; the others betray it slowly, by counting."""
    first = dice.integers(0, 4, (count, 1))
    bases = np.where(dice.random((count, WINDOW)) < 0.2, first, dice.integers(0, 4, (count, WINDOW)))
    bases[:, :1] = first
    return bases


def permuted(count: int, dice: np.random.Generator) -> Codes:
    """The bases of the periodic genome in random order: nothing is left to be found."""
    return dice.permutation(periodic(count, dice).ravel()).reshape(count, WINDOW)


def genome(folder: Path, make: Callable[[int, np.random.Generator], Codes]) -> Dataset:
    dice = np.random.default_rng(5)
    letters = np.array(list("ACGT"))
    with (folder / "genome.fa").open("w") as out:
        for split, count in WINDOWS.items():
            out.write(f">{split}\n{''.join(letters[make(count, dice).ravel()])}\n")
    return prepare(folder / "genome.fa", folder / "data", PrepareOptions(window=WINDOW, val=("val",), test=("test",)))


def verdicts(folder: Path, make: Callable[[int, np.random.Generator], Codes], *names: str) -> dict[str, Any]:
    """The difference of every arm after the first from the first."""
    folder.mkdir()
    dataset = genome(folder, make)
    base = configure("tiny", str(dataset.path), dataset.content_hash, dataset.window, OPTIONS)
    arms = []
    for name in names:
        runs = [run_folder(folder, name, seed) for seed in range(SEEDS)]
        for seed, run in enumerate(runs):
            list(train(of_arm(base, name, seed=seed), run, device="cpu", dataset=dataset))
        arms.append(Arm(name, runs, base.train.lr))
    found = judge_arms(arms, dataset, windows=None, block=BLOCK)
    return {row["name"]: row["splits"]["test"]["all"]["difference"] for row in found["arms"][1:]}


@pytest.mark.slow
def test_a_planted_period_is_found_by_the_spectral_part(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "period", periodic, "goat:recency", "goat:spectral+recency")
    assert found["goat:spectral+recency"]["verdict"] == "better"


@pytest.mark.slow
def test_a_planted_first_base_is_found_by_the_sink(tmp_path: Path) -> None:
    found = verdicts(tmp_path / "sink", anchored, "goat:recency", "goat:sink+recency")
    assert found["goat:sink+recency"]["verdict"] == "better"


@pytest.mark.slow
def test_nothing_is_found_where_nothing_was_planted(tmp_path: Path) -> None:
    arms = ("goat:recency", "goat:spectral+recency", "goat:sink+recency")
    found = verdicts(tmp_path / "permuted", permuted, *arms)
    assert {one["verdict"] for one in found.values()} == {"not distinguishable"}
