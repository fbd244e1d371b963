"""A small dataset and an untrained run on it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

import dnagoat
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, PositionConfig, RunConfig
from dnagoat.files import write_json
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run, open_run

WINDOW = 64


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny products gain nothing from threads, and lose much on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Three contigs of random bases with an N here and there; windows of 64."""
    folder = tmp_path_factory.mktemp("dataset")
    rng = np.random.default_rng(0)
    with (folder / "random.fa").open("w") as out:
        for name in ("one", "two", "three"):
            bases = rng.choice(list("ACGT"), 4_000)
            bases[rng.integers(0, 4_000, 8)] = "N"
            out.write(f">{name}\n{''.join(bases)}\n")
    options = PrepareOptions(window=WINDOW, val=("two",), test=("three",))
    return prepare(folder / "random.fa", folder / "prepared", options)


@pytest.fixture(scope="session")
def run(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run folder with the checkpoint of an untrained model."""
    path = tmp_path_factory.mktemp("runs") / "untrained"
    goat = GoatConfig(rank=2, periods=(3.0, 10.5), sink_frequencies=2)
    model = ModelConfig(
        width=64, heads=2, layers=2, mlp_width=64, context=WINDOW, position=PositionConfig(name="goat", settings=goat)
    )
    config = RunConfig(
        model=model,
        dataset=str(dataset.path),
        dataset_hash=dataset.content_hash,
        tool_version=dnagoat.__version__,
    )
    write_json(path / "config.json", config.model_dump(mode="json"))
    weights = weights_of(DnaLM(model, 0))
    save(path, Checkpoint(TrainingState(step=1, best_step=1, best_val_nll=1.4), weights), keep=1)
    return open_run(path)
