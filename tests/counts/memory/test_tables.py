"""The tables on disk: built once, under a budget, whole or not there, and refused where they are damaged."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dnagoat.counts.memory import tables
from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import FIXED, chosen_stretches, open_memory
from dnagoat.errors import DatasetError
from dnagoat.genome.dataset import Dataset, open_dataset
from tests.counts.memory.genome import dataset_of, repetitive


@pytest.fixture
def fresh(dataset: Dataset, tmp_path: Path) -> Dataset:
    """The dataset without its memory."""
    shutil.copytree(dataset.path, tmp_path / "data", ignore=shutil.ignore_patterns("memory"))
    return open_dataset(tmp_path / "data")


def test_held_out_bases_are_not_in_the_text(dataset: Dataset) -> None:
    memory = open_memory(dataset)
    assert [list(row) for row in memory.stretches[:, :2]] == [list(span) for span in dataset.spans("train")]
    breaks = np.unpackbits(memory.tables.breaks.view(np.uint8), bitorder="little")
    known = sum(int((dataset.codes(start, end) < 4).sum()) for start, end in dataset.spans("train"))
    assert int((breaks == 0).sum()) == 2 * known


def test_places_are_sorted_and_each_is_there_once(dataset: Dataset) -> None:
    held = open_memory(dataset).tables
    assert len(np.unique(held.places)) == len(held.places) == held.first[-1]
    both = np.array(
        [
            sum(
                int(held.bases[(p - back) >> 5] >> np.uint64(2 * ((p - back) & 31)) & np.uint64(3)) << 2 * (32 - back)
                for back in range(1, 33)
            )
            for p in held.places.astype(int).tolist()
        ],
        dtype=object,
    )
    assert all(both[1:] >= both[:-1])


def test_the_same_dataset_gives_the_same_bytes(dataset: Dataset, fresh: Dataset) -> None:
    first, second = open_memory(dataset), open_memory(fresh)
    assert first.name == second.name
    for one, other in zip(first.tables, second.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_processes_that_ask_together_build_once(fresh: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    plain = tables.build

    def build(*args: Any) -> dict[str, Any]:
        built.append(1)
        return plain(*args)

    monkeypatch.setattr(tables, "build", build)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(open_memory, [fresh] * 3))
    assert len(built) == 1
    assert not [left for left in fresh.path.iterdir() if left.name.startswith(".memory")]


def test_what_breaks_off_leaves_nothing(fresh: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tables, "sort_places", full)
    with pytest.raises(DatasetError, match="cannot be written: No space left"):
        open_memory(fresh)
    assert not (fresh.path / "memory").exists()


@pytest.mark.parametrize("harm", ["missing", "short", "format"])
def test_damage_is_told(fresh: Dataset, harm: str) -> None:
    folder = open_memory(fresh).path
    if harm == "missing":
        (folder / "places.npy").unlink()
    elif harm == "short":
        (folder / "first.npy").write_bytes((folder / "first.npy").read_bytes()[:1000])
    else:
        passport = folder / "memory.json"
        passport.write_text(passport.read_text().replace('"format": 1', '"format": 99'))
    with pytest.raises(DatasetError, match=r"remove .*memory, and it is built anew"):
        open_memory(fresh)


def test_a_budget_leaves_stretches_out_and_says_how_many(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "CHUNK", 500)
    total = int((dataset.spans("train") @ [-1, 1]).sum())
    budget = (FIXED + tables.A_BASE * total / 2) / 1e9
    stretches, left_out = chosen_stretches(dataset, budget)
    held = int((stretches @ [-1, 1]).sum())
    assert held + left_out == total and abs(held - total / 2) <= 500
    spans = dataset.spans("train")
    assert all(((spans[:, 0] <= start) & (end <= spans[:, 1])).any() for start, end in stretches)
    assert chosen_stretches(dataset, 8.0)[1] == 0
    with pytest.raises(DatasetError, match="give more"):
        chosen_stretches(dataset, FIXED / 1e9)


def test_nothing_to_remember(tmp_path: Path) -> None:
    """A training split without 49 known bases in a row has a memory, and it says what a guess says."""
    short = repetitive(40, 1, n_share=0)
    contigs = {"a": short, "val": repetitive(40, 2, n_share=0), "test": repetitive(40, 3, n_share=0)}
    reader = Reader(open_memory(dataset_of(tmp_path, contigs, window=20)), ("words", "gaps", "copies"))
    features = reader.read(reader.begin(1), np.arange(30)[None] % 4)
    assert not features.says.any() and not features.seen.any() and not features.votes.any()
