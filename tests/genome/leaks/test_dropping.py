"""Near-copies of held-out windows leave training: planted ones go, all else stays, and the report says what it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dnagoat.errors import DnagoatError, WindowError
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.leaks.leakage import leakage
from dnagoat.genome.passport import remarks
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.genome.store.verify import verify
from dnagoat_cli import app
from tests.genome.small import fasta, random_bases

W = 256
TURN = str.maketrans("ACGT", "TGCA")


@pytest.fixture(scope="module")
def genome(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training holds: a whole test window at a tile, one shifted by half a tile on the other strand, a short piece."""
    train, test = list(random_bases(40 * W, seed=1)), random_bases(10 * W, seed=2)
    train[3 * W : 4 * W] = test[0:W]
    train[10 * W + W // 2 : 11 * W + W // 2] = test[2 * W : 3 * W].translate(TURN)[::-1]
    train[20 * W : 20 * W + 40] = test[5 * W : 5 * W + 40]
    path = tmp_path_factory.mktemp("copies") / "g.fa"
    path.write_text(fasta({"train": "".join(train), "test": test, "val": random_bases(5 * W, seed=3)}))
    return path


def made(genome: Path, out: Path, **options: Any) -> Dataset:
    return prepare(genome, out, PrepareOptions(**{"window": W, "val": ("val",), "test": ("test",), **options}))


@pytest.mark.parametrize("stride", [W, W // 2])
def test_planted_copies_leave(genome: Path, tmp_path: Path, stride: int) -> None:
    kept = made(genome, tmp_path / "kept", stride=stride)
    left = made(genome, tmp_path / "left", stride=stride, copies="drop", bed=True)
    before, after = (
        {split: set(one.windows_of(split)["start"].tolist()) for split in ("train", "val", "test")}
        for one in (kept, left)
    )
    assert (before["test"], before["val"]) == (after["test"], after["val"])
    gone = before["train"] - after["train"]
    planted = [(3 * W, 4 * W), (10 * W + W // 2, 11 * W + W // 2)]
    # Windows of a smaller stride share bases with their neighbours, which leave too.
    reach = W - stride
    near = {
        start for start in before["train"] if any(start < end + reach and start + W > at - reach for at, end in planted)
    }
    assert gone and gone <= near
    if stride == W:
        assert gone == {3 * W, 10 * W, 11 * W}
    # No training window and no shifted one, no table of counts reads a base of what has left.
    spans = [(start, end) for start, end, split in left.contigs[0].spans if split == "train"]
    assert not any(start < 3 * W + W // 2 < end for start, end in spans)
    report = leakage(left)
    assert report["splits"]["test"]["overall"]["near"] == 0
    manifest = json.loads((left.path / "manifest.json").read_text())
    shares = [manifest[when]["test"]["overall"]["near"] for when in ("leaks_before", "leaks_after")]
    assert shares == pytest.approx([0.2 if stride == W else 4 / 19, 0], abs=0.11) and shares[0] >= 0.1
    assert manifest["rules"]["copies"] == "drop" and manifest["tally"]["windows_copies"] == len(gone)
    assert any("near-copies of held-out" in said for said in remarks(left.manifest))
    assert all(check.holds for check in verify(left)) and left.content_hash != kept.content_hash
    assert len((left.path / "windows.bed").read_text().splitlines()) == len(left.windows)


def test_nothing_to_drop_changes_no_window(tmp_path: Path) -> None:
    path = tmp_path / "g.fa"
    path.write_text(fasta({"train": random_bases(20 * W, seed=5), "test": random_bases(5 * W, seed=6)}))
    kept, left = made(path, tmp_path / "a", val=()), made(path, tmp_path / "b", val=(), copies="drop")
    assert kept.content_hash == left.content_hash and left.manifest.tally.windows_copies == 0
    none = prepare(path, tmp_path / "c", PrepareOptions(window=W, copies="drop"))  # nothing is held out
    assert none.manifest.tally.windows["train"] == 25 and np.array_equal(none.tokens, kept.tokens)


def test_it_is_shown(genome: Path, tmp_path: Path) -> None:
    words = ["prepare", str(genome), "--window", str(W), "--val", "val", "--test", "test", "--drop-copies"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "x")])
    assert result.exit_code == 0, result.stderr
    assert "What dropping copies did: before and after" in result.stdout and "test, overall, after" in result.stdout
    shown = " ".join(result.stdout.split())
    assert "After: without the 3 training windows that left" in shown and "at least 50% of a window's 32-mers" in shown
    assert "3 training windows dropped: near-copies" in result.stderr


def test_faults_are_sentences(genome: Path, tmp_path: Path) -> None:
    with pytest.raises(DnagoatError, match="32-mers and needs windows of 64 bases"):
        made(genome, tmp_path / "x", window=63, copies="drop")
    same = tmp_path / "same.fa"
    bases = random_bases(4 * W, seed=7)
    same.write_text(fasta({"train": bases, "test": bases + "A"}))
    with pytest.raises(WindowError, match="no training window is left"):
        made(same, tmp_path / "x", val=(), copies="drop")
    assert not (tmp_path / "x").exists()
