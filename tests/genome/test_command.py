"""`dnagoat prepare` and `dnagoat inspect` as a person meets them: a table, JSON, or one sentence and exit code 2."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dnagoat.genome.dataset import open_dataset
from dnagoat.genome.read.bed import locate_whole, read_bed
from dnagoat_cli import app
from tests.genome.conftest import Prepared
from tests.genome.small import fasta, random_bases


def dnagoat(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def genome(tmp_path: Path) -> Path:
    path = tmp_path / "genome.fa.gz"
    records = {"chr1": random_bases(4000, 1, "ACGTacgt"), "chr2": "ACGUN" * 100, "chr3": random_bases(300, 3)}
    path.write_bytes(gzip.compress(fasta(records).encode()))
    return path


def test_a_table_and_what_to_know(genome: Path, tmp_path: Path) -> None:
    result = dnagoat("prepare", genome, "--out", tmp_path / "out", "--window", 100, "--val", "chr3", "--max-n", 0.2)
    assert result.exit_code == 0
    rows = {tuple(line.split()[:2]) for line in result.stdout.splitlines() if line.split()}
    assert {("contigs", "3"), ("bases", "4,800"), ("N", "100"), ("train", "windows")} <= rows
    assert "2.08 %" in result.stdout
    assert "note: 100 U read as T" in result.stderr
    assert "note: the test split is empty" in result.stderr


def test_json_for_scripts(genome: Path, tmp_path: Path) -> None:
    result = dnagoat("prepare", genome, "--out", tmp_path / "out", "--window", 100, "--split-blocks", "--json")
    summary = json.loads(result.stdout)
    assert (summary["contigs"], summary["tally"]["bases"], summary["rules"]["guard"]) == (3, 4800, 100)
    again = json.loads(dnagoat("inspect", tmp_path / "out", "--json", "--verify", "--leakage").stdout)
    assert again["content_hash"] == summary["content_hash"]
    assert all(check["holds"] for check in again["verified"])
    assert set(again["leakage"]["splits"]) == {"val", "test"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give a genome's name (see `dnagoat prepare --list`) or a FASTA file"),
        (("missing.fa",), "missing.fa does not exist; give a FASTA file, or the name of an assembly"),
        (("GENOME", "--window", "1"), "--window 1: it should"),
        (("GENOME", "--gaps", "maybe"), "--gaps maybe: there are"),
        (("GENOME", "--val", "chr9"), "--val chr9: no contig of that name; there are chr1, chr2, chr3"),
        (("GENOME", "--split-blocks", "--val", "chr1"), "leave out --val and --test"),
        (("GENOME", "--window", "9999"), "the longest contig has 4,000 bases"),
        (("GENOME", "--regions", "missing.bed"), "missing.bed does not exist"),
        (("hg38", "--offline"), "hg38 is not in the cache"),
    ],
)
def test_faults_are_one_sentence(
    genome: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setenv("DNAGOAT_CACHE", str(tmp_path / "cache"))
    named = [str(genome) if argument == "GENOME" else argument for argument in arguments]
    result = dnagoat("prepare", *named, "--out", tmp_path / "deep" / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert not (tmp_path / "deep" / "out").exists()


def test_the_list_of_genomes() -> None:
    assert "3,088,286,401" in dnagoat("prepare", "--list").stdout
    assert json.loads(dnagoat("prepare", "--list", "--json").stdout)[0]["name"] == "hg38"


def test_inspect_draws_a_dataset(genome: Path, tmp_path: Path) -> None:
    dnagoat("prepare", genome, "--out", tmp_path / "out", "--window", 100, "--val", "chr3")
    result = dnagoat("inspect", tmp_path / "out", "--verify")
    assert result.exit_code == 0
    assert "chr1 █" in result.stdout
    assert "chr3 ▓" in result.stdout
    assert "ok      content hash" in result.stdout
    # The bars are drawn to one scale.
    bars = {line.split()[0]: line.count("█") for line in result.stdout.splitlines() if line.startswith("  chr")}
    assert bars["chr2"] == pytest.approx(bars["chr1"] / 8, abs=1)


def test_inspect_writes_where_the_splits_lie(tmp_path: Path) -> None:
    """On the assembly, piece or not: what the file says of a base is the split that the dataset has it in."""
    records = {
        "chr1": random_bases(1000, 1),
        "chr2_500_1500": random_bases(1000, 2),
        "chr2:2001-3000/rc": "ACGTTGCAAC" * 100,
    }
    (tmp_path / "g.fa").write_text(fasta(records))
    dnagoat("prepare", tmp_path / "g.fa", "--out", tmp_path / "out", "--window", 50, "--split-blocks")
    result = dnagoat("inspect", tmp_path / "out", "--splits", tmp_path / "s.bed")
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 's.bed'}\n")
    text = (tmp_path / "s.bed").read_text()
    assert dnagoat("inspect", tmp_path / "out", "--splits", "-").stdout == text
    dataset, bed = open_dataset(tmp_path / "out"), read_bed(tmp_path / "s.bed")
    located = locate_whole(bed, dataset.contigs, "it")
    for split in ("train", "val", "test"):
        spans = {
            (one.contig.offset + one.start, one.contig.offset + one.end)
            for one in located.stretches
            if one.interval.label == split
        }
        assert spans == set(map(tuple, dataset.spans(split).tolist())) != set()
    assert {interval.name for interval in bed.intervals} == {"chr1", "chr2"}
    assert "exists already" in dnagoat("inspect", tmp_path / "out", "--splits", tmp_path / "s.bed").stderr
    assert dnagoat("inspect", tmp_path / "out", "--splits", tmp_path / "s.bed", "--force").exit_code == 0
    assert "nothing else" in dnagoat("inspect", tmp_path / "out", "--splits", "-", "--verify").stderr


def test_inspect_says_what_is_damaged(genome: Path, tmp_path: Path) -> None:
    dnagoat("prepare", genome, "--out", tmp_path / "out", "--window", 100)
    with (tmp_path / "out" / "tokens.u8").open("r+b") as handle:
        handle.write(b"\4")
    result = dnagoat("inspect", tmp_path / "out", "--verify")
    assert result.exit_code == 2
    assert "is damaged: hash of tokens.u8 is" in result.stderr
    assert dnagoat("inspect", tmp_path / "out", "--source", genome).exit_code == 2


def test_inspect_of_something_else(tmp_path: Path) -> None:
    result = dnagoat("inspect", tmp_path)
    assert result.exit_code == 2
    assert "is neither a dataset (manifest.json) nor a run (config.json)" in result.stderr


def test_a_run_has_no_hashes_to_verify(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    for options in (["--verify"], ["--leakage"], ["--splits", tmp_path / "s.bed"]):
        result = dnagoat("inspect", tmp_path, *options)
        assert result.exit_code == 2
        assert "is a run; name its dataset" in result.stderr


def test_inspect_shows_the_leaks(prepared: Prepared) -> None:
    copied = random_bases(512, 4)
    dataset = prepared({"chr1": random_bases(3000, 5) + copied, "chr2": copied}, window=256, test=("chr2",))
    result = dnagoat("inspect", dataset.path, "--leakage")
    assert "100 %" in result.stdout
    assert "test chr2:256-512" in result.stdout
    assert "chr1:3,256-3," in result.stdout
