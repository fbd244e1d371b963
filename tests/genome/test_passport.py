"""A dataset is checked against its manifest, and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dnagoat.files import read_json, write_json
from dnagoat.genome.dataset import Dataset, open_dataset
from dnagoat.genome.passport import histograms, map_cells
from dnagoat.genome.store.verify import verify
from tests.genome.conftest import Prepared
from tests.genome.small import random_bases


@pytest.fixture
def dataset(prepared: Prepared) -> Dataset:
    records = {"a": random_bases(3000, 1, "ACGTacgtN"), "b": random_bases(700, 2)}
    return prepared(records, window=50, max_n=1.0, test=("b",))


def failed(dataset: Dataset, source: Path | None = None) -> list[str]:
    return [check.name for check in verify(open_dataset(dataset.path), source) if not check.holds]


def test_a_fresh_dataset_holds(dataset: Dataset) -> None:
    assert failed(dataset, dataset.path.parent / "dataset.fa") == []
    assert failed(dataset, dataset.path / "manifest.json") == ["hash of manifest.json"]


def test_one_changed_base_is_found(dataset: Dataset) -> None:
    with (dataset.path / "tokens.u8").open("r+b") as handle:
        handle.seek(1234)
        base = handle.read(1)[0]
        handle.seek(1234)
        handle.write(bytes([base ^ 1]))
    assert failed(dataset)[0] == "hash of tokens.u8"
    assert "content hash" in failed(dataset)


def test_one_moved_window_is_found(dataset: Dataset) -> None:
    file = dataset.path / "windows.parquet"
    windows = pd.read_parquet(file)
    windows["start"] += 1 * (windows.index == 5)
    windows.to_parquet(file)
    assert failed(dataset) == ["hash of windows.parquet", "content hash"]
    windows["start"] += 5000 * (windows.index == 5)
    windows.to_parquet(file)
    assert "windows inside their spans" in failed(dataset)


def test_a_changed_manifest_is_found(dataset: Dataset) -> None:
    manifest = read_json(dataset.path / "manifest.json")
    manifest["contigs"][1]["spans"] = [[0, 700, "val"]]
    write_json(dataset.path / "manifest.json", manifest)
    assert failed(dataset) == ["windows inside their spans", "content hash"]


def test_histograms_count_every_window_once(dataset: Dataset) -> None:
    shown = histograms(dataset, bins=10)
    for measure in ("gc", "n_fraction", "masked_fraction"):
        values = dataset.windows_of("train")[measure]
        assert sum(shown[measure]["train"]["counts"]) == 60
        assert shown[measure]["train"]["mean"] == pytest.approx(float(values.mean()))
        assert shown[measure]["val"] == {"counts": [0] * 10, "mean": None}
    assert shown["n_fraction"]["test"]["counts"] == [14] + [0] * 9
    json.dumps(shown)  # plain numbers


def test_the_split_map_follows_the_spans(prepared: Prepared) -> None:
    dataset = prepared({"a": random_bases(10_000), "b": random_bases(1000)}, window=100, split="blocks")
    (long, short), longest = dataset.contigs, 10_000
    bar = map_cells(long, 100, longest)
    assert len(bar) == 100
    assert len(map_cells(short, 100, longest)) == 10
    for split in ("train", "val", "test", None):
        bases = sum(end - start for start, end, of in long.spans if of == split)
        bases = bases if split else 10_000 - sum(end - start for start, end, _ in long.spans)
        assert bar.count(split) == pytest.approx(bases / 100, abs=8)
    assert [split for split, before in zip(bar, [None, *bar], strict=False) if split not in (before, None)][:4] == [
        "train",
        "val",
        "train",
        "test",
    ]


def test_places_are_told_on_the_chromosome(prepared: Prepared) -> None:
    dataset = prepared({"chr7_1000_1200": random_bases(200), "plain": random_bases(100)}, window=50)
    assert [contig.place(10, 20) for contig in dataset.contigs] == ["chr7:1,010-1,020", "plain:10-20"]
    assert np.array_equal(dataset.starts("train"), [0, 50, 100, 150, 200, 250])
