"""One small dataset with its memory."""

from __future__ import annotations

import pytest

from dnagoat.counts.memory.tables import Memory, open_memory
from dnagoat.genome.dataset import Dataset
from tests.counts.memory.genome import dataset_of, repetitive


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    contigs = {
        "a": repetitive(9000, 1),
        "b": repetitive(4000, 2),
        "val": repetitive(2000, 3),
        "test": repetitive(2000, 4),
    }
    return dataset_of(tmp_path_factory.mktemp("memory"), contigs)


@pytest.fixture(scope="session")
def memory(dataset: Dataset) -> Memory:
    return open_memory(dataset)
