"""Whether files are read and written whose names are no text in UTF-8, as Linux allows and old archives have them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from dnagoat.evaluation.outputs.rows import write_rows
from dnagoat.evaluation.outputs.tracks import Segment, open_tracks
from dnagoat.files import as_utf8, plain_name, read_json, write_json, written_whole
from dnagoat.genome.dataset import open_dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.genome.read.twobit import TwoBit
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save
from dnagoat.training.kept.event_log import log_steps
from dnagoat.training.kept.metrics import Step
from tests.genome.small import fasta, random_bases, twobit

RECORDS = {"chr1": random_bases(3000), "chr2": random_bases(900, 1)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name has a byte of Latin-1."""
    found = tmp_path / os.fsdecode(b"d\xe9")
    try:
        found.mkdir()
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    return found


def test_a_dataset_is_prepared_and_opened(folder: Path) -> None:
    source, chosen = folder / os.fsdecode(b"g\xe9.fa"), folder / os.fsdecode(b"c\xe9.bed")
    source.write_text(fasta(RECORDS))
    chosen.write_text("1\t0\t2000\nchr2\t0\t900\n")
    options = PrepareOptions(window=64, val=("chr2",), bed=True)
    made = prepare(source, folder / "data", options)
    assert len(open_dataset(folder / "data").windows) == sum(made.manifest.tally.windows.values()) > 0
    assert made.manifest.sources[0].name == "g\ufffd.fa"  # as text it has no better name
    some = prepare(source, folder / "some", options.but(regions=chosen))
    assert any("g\ufffd" in note or "c\ufffd" in note for note in some.manifest.notes)


def test_a_2bit_file_is_read(folder: Path) -> None:
    file = folder / "genome.2bit"
    file.write_bytes(twobit(RECORDS))
    reader = TwoBit(file)
    assert reader.lengths == {"chr1": 3000, "chr2": 900}
    reader.close()


def test_tables_and_tracks_are_written(folder: Path) -> None:
    pq, pyBigWig = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyBigWig")
    write_rows(folder / "rows.parquet", {"name": str}, [(name,) for name in RECORDS])
    with (folder / "rows.parquet").open("rb") as handle:
        assert pq.read_table(handle).to_pydict() == {"name": list(RECORDS)}
    write_rows(folder / "rows.tsv", {"name": str}, [(os.fsdecode(b"r\xe9"),)])
    assert (folder / "rows.tsv").read_bytes() == b"name\nr\xe9\n"
    (folder / "g.fa").write_text(fasta(RECORDS))
    contigs = prepare(folder / "g.fa", folder / "data", PrepareOptions(window=64, split="blocks")).contigs
    with open_tracks(folder, os.fsdecode(b"t\xe9"), contigs, "the dataset") as (write, tracks):
        write(Segment("chr1", 5, np.ones(7, dtype=np.float32)))
    with plain_name(tracks.paths[1]) as name:
        track = pyBigWig.open(name)
        assert track.chroms() == {"chr1": 3000, "chr2": 900} and track.values("chr1", 5, 7) == [1.0, 1.0]
        track.close()


def test_steps_are_logged(folder: Path) -> None:
    pytest.importorskip("tensorboard")
    step = Step(step=1, steps=1, seconds=1.0, bases=10, loss=1.0, lr=0.1, grad_norm=1.0, tokens_per_second=1.0)
    assert list(log_steps([step], folder, "tensorboard")) == [step]
    assert len(list((folder / "tensorboard").glob("events.*"))) == 1


def test_a_checkpoint_is_saved_and_read(folder: Path) -> None:
    progress = TrainingState(step=1)
    kept = save(folder, Checkpoint(progress, {"weight": torch.ones(3)}), keep=1)
    assert torch.equal(Checkpoint.read(kept).weights["weight"], torch.ones(3))


def test_json_keeps_the_bytes(folder: Path) -> None:
    write_json(folder / "kept.json", {"path": str(folder)})
    assert read_json(folder / "kept.json") == {"path": str(folder)}
    assert as_utf8(folder.name) == "d\ufffd" and as_utf8("dé漢") == "dé漢"


def test_folders_that_were_made_for_a_file_go_where_it_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "was").mkdir()
    with pytest.raises(KeyboardInterrupt), written_whole(tmp_path / "was" / "new" / "newer" / "file") as aside:
        aside.touch()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == [tmp_path / "was"] and not list((tmp_path / "was").iterdir())
    with written_whole(tmp_path / "was" / "new" / "file") as aside:
        aside.touch()
    assert (tmp_path / "was" / "new" / "file").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_told_by_the_file_that_was_to_be(tmp_path: Path, number: int) -> None:
    """Writing says no name of its own; what else says none, a network for one, keeps none."""

    def fails(number: int) -> OSError:
        with pytest.raises(OSError) as told, written_whole(tmp_path / "there.tsv"):
            raise OSError(number, os.strerror(number))
        return told.value

    assert fails(number).filename == str(tmp_path / "there.tsv") and fails(errno.ECONNRESET).filename is None
    assert not list(tmp_path.iterdir())
