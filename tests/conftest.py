"""What tests of several rooms ask for: real chromosomes and awkward files, where they are; what memory is tried on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from dnagoat.config import Family, RunConfig
    from dnagoat.genome.dataset import Dataset

# An example may take as long as it takes: on a machine that others use, hypothesis's 200 ms say nothing of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout (or DNAGOAT_SHARED); tests that need it skip where it is absent."""
    folder = Path(os.environ.get("DNAGOAT_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the real chromosomes in {folder}, which is not here")
    return folder


@pytest.fixture(scope="session")
def repetitive_data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A genome that repeats itself, in windows of 64."""
    from tests.counts.memory.genome import dataset_of, repetitive

    lengths = {"a": 9000, "val": 2000, "test": 3000}
    contigs = {name: repetitive(length, seed) for seed, (name, length) in enumerate(lengths.items())}
    return dataset_of(tmp_path_factory.mktemp("memory"), contigs, window=64)


@pytest.fixture(scope="session")
def remembering(repetitive_data: Dataset) -> Callable[[tuple[Family, ...]], RunConfig]:
    """The configuration of a small model that looks these families of memory up in that genome."""
    from dnagoat.training.presets import configure
    from tests.training.conftest import SMALL

    data = repetitive_data
    return lambda families: configure(
        "tiny", str(data.path), data.content_hash, data.window, {**SMALL, "model.memory": families}
    )
