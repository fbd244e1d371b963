"""A small genome with N, and a run small enough to be trained in a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dnagoat.config import RunConfig
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.presets import configure

WINDOW = 64
SMALL = {
    "model.width": 64,
    "model.heads": 1,
    "model.layers": 2,
    "model.mlp_width": 64,
    "train.steps": 12,
    "train.batch_size": 4,
    "train.warmup": 3,
    "train.eval_every": 4,
    "train.eval_windows": 8,
    "train.checkpoint_every": 3,
}


def write_genome(path: Path, lengths: tuple[int, ...] = (8000, 2000, 2000), n_share: float = 0.05) -> Path:
    """Contigs c0, c1, ... of random bases; N come in patches, so that windows hold different numbers of them."""
    dice = np.random.default_rng(7)
    with path.open("w") as out:
        for number, length in enumerate(lengths):
            bases = dice.choice(list("ACGT"), length)
            for start in dice.integers(0, length, int(length * n_share / 10)):
                bases[start : start + 10] = "N"
            out.write(f">c{number}\n{''.join(bases)}\n")
    return path


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("genome")
    options = PrepareOptions(window=WINDOW, val=("c1",), test=("c2",), max_n=0.9)
    return prepare(write_genome(folder / "genome.fa"), folder / "dataset", options)


@pytest.fixture(scope="session")
def config(dataset: Dataset) -> RunConfig:
    return configure("tiny", str(dataset.path), dataset.content_hash, dataset.window, SMALL)
