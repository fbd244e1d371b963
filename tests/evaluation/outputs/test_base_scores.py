"""Every base of a file: the model's own softmax, whatever the parts, the batch and the format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from typer.testing import CliRunner

import dnagoat
from dnagoat.evaluation.outputs import readings
from dnagoat.evaluation.outputs.base_scores import score_bases
from dnagoat.model.transformer import DnaLM
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun
from tests.genome.small import fasta, random_bases

CONTEXT, STRIDE = 64, 32
LONG = random_bases(400, seed=8) + "NN" + random_bases(301, seed=9)


def softmax(model: DnaLM, bases: str) -> np.ndarray:
    """p of A, C, G, T before each base of a text that is read at once, by one plain pass."""
    five = model.config.classes == 5
    symbols = [*([] if five else [5]), *("ACGTN".index(base) for base in bases)]
    with torch.inference_mode():
        logits = model(torch.tensor([symbols]))[0, :-1, :4].double()
    found = torch.softmax(logits, -1).numpy()
    return np.concatenate([np.full((1, 4), np.nan), found]) if five else found


def by_hand(model: DnaLM, bases: str) -> np.ndarray:
    """Pieces that keep their last half, the first as much as it has."""
    found, done = [], 0
    while done < len(bases):
        last = min(len(bases), CONTEXT if not done else done + STRIDE)
        first = max(0, last - CONTEXT)
        found.append(softmax(model, bases[first:last])[done - first :])
        done = last
    return np.concatenate(found)


@pytest.mark.parametrize("at_once", [1, 40, 1 << 22])
@pytest.mark.parametrize(("position", "classes"), [("goat", 4), ("rope", 5)])
def test_parts_are_the_whole(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, position: str, classes: int, at_once: int
) -> None:
    monkeypatch.setattr(readings, "AT_ONCE", at_once)
    model = make_run(position, classes).model()
    records = {"short": LONG[:50], "none": "", "long": LONG, "exact": LONG[:128], "one": "A"}
    (tmp_path / "s.fa").write_text(fasta(records))
    found: dict[str, list[np.ndarray]] = {}
    for part in score_bases(model, tmp_path / "s.fa", 256):
        assert part.start == sum(map(len, found.setdefault(part.name, [])))
        assert "".join("ACGTN"[code] for code in part.codes) == records[part.name][part.start :][: len(part.codes)]
        found[part.name].append(np.exp(part.log_p))
        true = [np.nan if code == 4 else -part.log_p[row, code] for row, code in enumerate(part.codes)]
        assert np.array_equal(part.nats(), np.array(true, dtype=np.float32), equal_nan=True)
    assert list(found) == [name for name, bases in records.items() if bases]
    for name, parts in found.items():
        # float32 logits of two blocks; other batches sum in another order
        assert np.concatenate(parts) == pytest.approx(by_hand(model, records[name]), abs=1e-5, nan_ok=True)
    if at_once < CONTEXT:
        assert len(found["long"]) > 1


def test_sums_are_those_of_the_table(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("goat")
    (tmp_path / "s.fa").write_text(fasta({"a": LONG, "b": LONG[:70]}))
    sums: dict[str, float] = {}
    for part in dnagoat.score_bases(run, tmp_path / "s.fa"):
        sums[part.name] = sums.get(part.name, 0.0) - float(np.nansum(part.nats(), dtype=np.float64))
    for record in dnagoat.score(run, tmp_path / "s.fa"):
        assert sums[record.name] == pytest.approx(record.forward, abs=1e-3)


def run_it(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in ("score", "sequences", *words, "--device", "cpu")])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_both_formats_by_the_command(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("rope")
    (tmp_path / "s.fa").write_text(fasta({"a": "ACGTNAC", "b": "TT"}))
    words = (run.path, tmp_path / "s.fa")
    code, out, _ = run_it(*words, "--per-base", tmp_path / "b.parquet")
    assert (code, out) == (0, f"{tmp_path / 'b.parquet'}\n")
    rows = pq.read_table(tmp_path / "b.parquet").to_pylist()
    assert [(row["name"], row["position"], row["base"]) for row in rows] == [
        *(("a", place, base) for place, base in enumerate("ACGTNAC")),
        ("b", 0, "T"),
        ("b", 1, "T"),
    ]
    assert [place for place, row in enumerate(rows) if row["nats"] is None] == [4]
    for row in rows:
        assert sum(row[f"p_{base}"] for base in "acgt") == pytest.approx(1, abs=1e-5)
        if row["nats"] is not None:
            assert -np.log(row[f"p_{row['base'].lower()}"]) == pytest.approx(row["nats"], abs=1e-5)
    code, out, _ = run_it(*words, "--per-base", "-")
    head, *lines = out.splitlines()
    assert code == 0 and head.startswith("track type=bedGraph")
    known = [row for row in rows if row["nats"] is not None]
    for line, row in zip(lines, known, strict=True):
        name, start, end, nats = line.split("\t")
        assert (name, int(start), int(end)) == (row["name"], row["position"], row["position"] + 1)
        assert float(nats) == pytest.approx(row["nats"], abs=1e-4)


def test_faults_are_sentences(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("rope")
    (tmp_path / "s.fa").write_text(">a\nACGT\n")
    words = (run.path, tmp_path / "s.fa", "--per-base")
    for more, said in (
        ((tmp_path / "b.tsv",), "ends in .parquet or .bedGraph"),
        ((tmp_path / "b.parquet", "--json"), "leave out --out and --json"),
        ((tmp_path / "b.parquet", "--stride", 65), "--stride 65"),
    ):
        code, _, err = run_it(*words, *more)
        assert code == 2 and said in err and err.count("\n") == 1
    (tmp_path / "p.fa").write_text(">a\nACGT\n>b\nACE\n")
    code, _, err = run_it(run.path, tmp_path / "p.fa", "--per-base", tmp_path / "b.parquet")
    assert code == 2 and "amino acid" in err
    assert not list(tmp_path.glob("*b.*"))
