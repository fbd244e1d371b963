"""Where variants come from and scores go: byte order marks, a full disk, two commands at one file."""

from __future__ import annotations

import gzip
from codecs import BOM_UTF8
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dnagoat.errors import OptionError, SourceError
from dnagoat.evaluation.outputs.variants.kept import ROW, keep_rows
from dnagoat.model.transformer import DnaLM
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun
from tests.evaluation.outputs.variants.conftest import Score, write_calls, write_genome
from tests.full_disk import no_file_above

pysam = pytest.importorskip("pysam", reason="needs the package pysam")


@pytest.fixture
def model(make_run: MakeRun) -> DnaLM:
    return make_run("rope").model()


@pytest.fixture
def genome(bases: str, tmp_path: Path) -> Path:
    return write_genome(tmp_path / "g.fa", {"one": bases})


def snvs(bases: str, *places: int) -> list[tuple[object, ...]]:
    return [("one", at, bases[at - 1], "CAAA"["ACGT".index(bases[at - 1])]) for at in places]


def test_a_byte_order_mark_is_no_part_of_the_text(
    model: DnaLM, bases: str, genome: Path, tmp_path: Path, score_file: Score
) -> None:
    """As in FASTA, BED and lists of lengths; spreadsheets write it, with the line ends of Windows."""
    plain = write_calls(tmp_path / "c.vcf", snvs(bases, 300, 700))
    want = score_file(model, plain, genome)
    marked = BOM_UTF8 + plain.read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / "m.vcf").write_bytes(marked)
    (tmp_path / "m.vcf.gz").write_bytes(gzip.compress(marked))
    for name in ("m.vcf", "m.vcf.gz"):
        assert score_file(model, tmp_path / name, genome, tmp_path / "out.vcf") == want
        (tmp_path / "out.vcf").unlink()


def test_a_count_of_one_is_said_as_one(
    model: DnaLM, bases: str, genome: Path, tmp_path: Path, score_file: Score
) -> None:
    ((name, at, ref, alt),) = snvs(bases, 300)
    calls = write_calls(tmp_path / "c.vcf", [(name, at, alt, ref)])
    with pytest.raises(SourceError, match=r"does not fit .* in 1 of 1 record \(at one:300"):
        score_file(model, calls, genome)


def test_one_file_is_written_by_one_command(
    model: DnaLM, bases: str, genome: Path, tmp_path: Path, score_file: Score
) -> None:
    calls, out = write_calls(tmp_path / "c.vcf", snvs(bases, 300)), tmp_path / "s.vcf"
    with (
        keep_rows(tmp_path / "s.vcf.partial", {}, resume=False),
        pytest.raises(OptionError, match=rf"another .* is writing {out}; wait for it"),
    ):
        score_file(model, calls, genome, out)
    assert not (tmp_path / "s.vcf.partial").exists()
    assert len(score_file(model, calls, genome, out)) == 1


@pytest.mark.parametrize("suffix", [".vcf.gz", ".parquet"])
def test_a_full_disk_is_one_sentence_and_leaves_no_half_file(
    make_run: MakeRun, bases: str, genome: Path, tmp_path: Path, suffix: str
) -> None:
    run, out = make_run("rope"), tmp_path / "out" / f"s{suffix}"
    calls = write_calls(tmp_path / "c.vcf", snvs(bases, *range(100, 700)))
    table = suffix in (".tsv", ".parquet")
    words = ["score", "variants", run.path, calls, "--genome", genome, "--device", "cpu", "--resume"]
    words += ["--table" if table else "--out", out]

    def score(most: int) -> Result:
        with no_file_above(most):
            return CliRunner().invoke(app, list(map(str, words)))

    rows = 600 * ROW.itemsize
    # Not even the first line of what is scored; the first 512 rows; all rows, and not the whole of what they make.
    for most, kept in ((200, False), (rows - 600, True), (rows + 500, True)):
        done = score(most)
        said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert done.exit_code == 2 and len(said) == 1, done.output
        assert str(out) in said[0] and "File too large" in said[0]
        assert [path.name for path in out.parent.glob("*")] == ([f"{out.name}.partial"] if kept else [])
    assert "--resume goes on from there" in done.stderr
    assert score(10**8).exit_code == 0
    names = [path.name for path in out.parent.glob("*")]
    assert out.name in names and not any(name.endswith(".partial") for name in names)
