"""What the genome tests share: preparing a small genome."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from tests.genome.small import fasta

Prepared = Callable[..., Dataset]


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """Prepares records (name to bases) or a file, with options of `PrepareOptions`."""

    def make(source: dict[str, str] | Path | str, name: str = "dataset", **options: object) -> Dataset:
        if isinstance(source, dict):
            path = tmp_path / f"{name}.fa"
            path.write_text(fasta(source))
            source = path
        return prepare(source, tmp_path / name, PrepareOptions(**options))

    return make
