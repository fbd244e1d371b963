"""Variants through pipes, and as many as there are: what is read is scored and let go."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import dnagoat.evaluation.outputs.variants.scored_file as module
from dnagoat.evaluation.outputs.variants.alleles import Change
from dnagoat.model.transformer import DnaLM
from tests.evaluation.conftest import MakeRun
from tests.evaluation.outputs.variants.conftest import Score, write_calls, write_genome

pysam = pytest.importorskip("pysam", reason="needs the package pysam")


def changed(bases: str, places: Sequence[int]) -> list[tuple[object, ...]]:
    return [("one", at, bases[at - 1], "ACGT"["ACGT".index(bases[at - 1]) - 1]) for at in places]


def records(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_standard_input_and_fifos_give_what_a_file_gives(make_run: MakeRun, bases: str, tmp_path: Path) -> None:
    run = make_run("rope")
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", changed(bases, range(200, 230, 3)))
    command = [
        sys.executable,
        "-m",
        "dnagoat_cli",
        "score",
        "variants",
        run.path,
        "--genome",
        genome,
        "--device",
        "cpu",
    ]

    def score(source: Path | str, *more: object, given: bytes | None = None) -> str:
        words = [*map(str, command), str(source), *map(str, more)]
        done = subprocess.run(words, input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    score(calls, "--out", tmp_path / "file.vcf")
    whole = records((tmp_path / "file.vcf").read_text())
    assert len(whole) == 10 and all("DNAGOAT_LLR=" in line for line in whole)
    assert records(score("-", given=calls.read_bytes())) == whole

    fifo, sink = tmp_path / "in.fifo", tmp_path / "out.fifo"
    os.mkfifo(fifo)
    os.mkfifo(sink)
    got: list[str] = []
    ends = [
        threading.Thread(target=lambda: fifo.write_bytes(calls.read_bytes())),
        threading.Thread(target=lambda: got.append(sink.read_text())),
    ]
    for end in ends:
        end.start()
    score(fifo, "--out", sink)
    for end in ends:
        end.join()
    assert records(got[0]) == whole
    assert sorted(path.name for path in tmp_path.glob("*.partial")) == []


def test_what_has_been_scored_is_let_go(
    make_run: MakeRun, bases: str, tmp_path: Path, score_file: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many variants there are, as many are held as are scored together, and those that come next."""
    genome = write_genome(tmp_path / "g.fa", {"one": bases})
    calls = write_calls(tmp_path / "c.vcf", changed(bases, [200 + at % 2_000 for at in range(1_000)]))
    monkeypatch.setattr(module, "AT_ONCE", 16)
    most = 0

    def count(_: DnaLM, changes: Sequence[Change], *rest: object) -> np.ndarray:
        nonlocal most
        gc.collect()
        most = max(most, sum(type(held) is Change for held in gc.get_objects()))
        return np.zeros((len(changes), 2))

    monkeypatch.setattr(module, "score_changes", count)
    assert len(score_file(make_run("rope").model(), calls, genome)) == 1_000
    assert 16 <= most <= 2 * 16
