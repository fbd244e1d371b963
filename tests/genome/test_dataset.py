"""Opening a dataset, and being told what is wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dnagoat.errors import DatasetError
from dnagoat.genome.alphabet import encode
from dnagoat.genome.dataset import open_dataset
from tests.genome.conftest import Prepared
from tests.genome.small import random_bases


def test_positions_are_found_again(prepared: Prepared) -> None:
    records = {"a": random_bases(100), "empty": "", "b": random_bases(60, 1)}
    dataset = prepared(records, window=10, val=("b",))
    assert dataset.locate(0)[0].name == "a"
    assert dataset.locate(99)[1] == 99
    contig, place = dataset.locate(100)
    assert (contig.name, place) == ("b", 0)
    assert dataset.codes(100, 160).tolist() == encode(records["b"]).tolist()
    for outside in (-1, 160):
        with pytest.raises(DatasetError, match="is outside the 160 bases"):
            dataset.locate(outside)
    assert dataset.starts("val").tolist() == [100, 110, 120, 130, 140, 150]
    assert dataset.starts("test").tolist() == []
    assert dataset.room("test").shape == (0, 2)


def test_what_is_no_dataset(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is not a folder"):
        open_dataset(tmp_path / "none")
    with pytest.raises(DatasetError, match=r"holds no manifest\.json"):
        open_dataset(tmp_path)
    dataset = prepared({"a": random_bases(100)}, window=10)
    with (dataset.path / "tokens.u8").open("ab") as handle:
        handle.write(b"\0")
    with pytest.raises(DatasetError, match="holds 101 bases, the manifest says 100"):
        open_dataset(dataset.path)
    (dataset.path / "tokens.u8").unlink()
    with pytest.raises(DatasetError, match="is missing"):
        open_dataset(dataset.path)
    for text in ("", "[]", "{", '{"format": 1}', '{"format": 2}'):
        (dataset.path / "manifest.json").write_text(text)
        with pytest.raises(DatasetError, match="cannot be read as a dataset's manifest") as fault:
            open_dataset(dataset.path)
        assert "\n" not in str(fault.value)
