"""A small dataset and untrained runs on it, made by the product's own commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dnagoat
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.files import write_json
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run, open_run

WINDOW = 64


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Three contigs of random bases, 40 % GC, half lower case, with an N here and there; windows of 64."""
    folder = tmp_path_factory.mktemp("dataset")
    rng = np.random.default_rng(0)
    with (folder / "random.fa").open("w") as out:
        for name, length in (("train", 20_000), ("val", 4_000), ("chr7_1000_5000", 4_000)):
            bases = rng.choice(list("ACGT"), length, p=[0.3, 0.2, 0.2, 0.3])
            bases[rng.integers(0, length, length // 500)] = "N"
            bases[length // 2 :] = np.char.lower(bases[length // 2 :])
            out.write(f">{name}\n{''.join(bases)}\n")
    options = PrepareOptions(window=WINDOW, val=("val",), test=("chr7_1000_5000",))
    return prepare(folder / "random.fa", folder / "prepared", options)


MakeRun = Callable[..., Run]


@pytest.fixture
def make_run(dataset: Dataset, tmp_path: Path) -> MakeRun:
    """make_run(position="rope", classes=4, seed=0): an untrained run folder with one checkpoint."""

    def make(position: str = "rope", classes: int = 4, seed: int = 0) -> Run:
        model = ModelConfig(
            width=64,
            heads=2,
            layers=2,
            mlp_width=64,
            context=WINDOW,
            classes=classes,
            position=PositionConfig(
                name=position, settings=GoatConfig(rank=2, periods=(3.0, 10.5), sink_frequencies=2)
            ),
        )
        config = RunConfig(
            model=model,
            train=TrainConfig(score_n=classes == 5),
            dataset=str(dataset.path),
            dataset_hash=dataset.content_hash,
            tool_version=dnagoat.__version__,
        )
        path = tmp_path / f"{position}-{classes}-{seed}"
        write_json(path / "config.json", config.model_dump(mode="json"))
        weights = weights_of(DnaLM(model, seed))
        save(path, Checkpoint(TrainingState(step=1, best_step=1, best_val_nll=1.4), weights), keep=1)
        return open_run(path)

    return make
