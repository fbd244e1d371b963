"""Regions of any genome: each base once, with what lies before it, on both strands; tables, BED and tracks of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dnagoat.errors import SourceError
from dnagoat.evaluation.outputs import readings
from dnagoat.evaluation.outputs import regions as module
from dnagoat.evaluation.outputs.regions import Region, score_regions
from dnagoat.evaluation.outputs.sequences import score_sequences
from dnagoat.evaluation.outputs.tracks import Segment
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.genome.alphabet import encode
from dnagoat.genome.read.bed import read_bed
from dnagoat.genome.read.genome import Genome
from dnagoat.genome.read.source import Source
from dnagoat.model.transformer import DnaLM
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun
from tests.genome.small import fasta, random_bases

BASES = random_bases(900, seed=4)
CONTEXT, STRIDE = 64, 32  # the training length of the models here, and its half


def region_scores(
    model: DnaLM, folder: Path, bed: str, records: dict[str, str] | None = None, **options: Any
) -> list[Region]:
    (folder / "g.fa").write_text(fasta(records or {"one": BASES}))
    (folder / "r.bed").write_text(bed)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    with Genome(Source(folder / "g.fa"), scratch) as genome:
        return score_regions(model, read_bed(folder / "r.bed"), genome, 512, say=lambda _: None, **options)


def by_hand(model: DnaLM, text: str, start: int, end: int) -> np.ndarray:
    """Nats of each base of [start, end): pieces that score their last half, the first as much as it has."""
    codes, found, done = encode(text), [], start
    begin = max(0, start - (CONTEXT - STRIDE))
    while done < end:
        last = min(end, begin + CONTEXT if done == start else done + STRIDE)
        first = begin if done == start else last - CONTEXT
        found.append(window_scores(model, codes[None, first:last])[0][0, done - first :])
        done = last
    return np.concatenate(found)


@pytest.mark.parametrize(("start", "end"), [(0, 10), (7, 300), (400, 433), (500, 900), (899, 900)])
def test_each_base_is_read_with_what_lies_before_it(make_run: MakeRun, tmp_path: Path, start: int, end: int) -> None:
    model = make_run("goat").model()
    (found,) = region_scores(model, tmp_path, f"one\t{start}\t{end}\tx\t0\t-\n")
    forward = by_hand(model, BASES, start, end)
    back = by_hand(model, "".join("TGCA"["ACGT".index(b)] for b in reversed(BASES)), 900 - end, 900 - start)
    # Column 6 says that the interval is on the - strand, which then is its own.
    assert found.record.forward == pytest.approx(-back.sum(), abs=1e-4)
    assert found.record.reverse == pytest.approx(-forward.sum(), abs=1e-4)
    assert (found.record.scored, found.record.length) == (end - start, end - start)


def test_progress_is_told_within_a_region(make_run: MakeRun, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    region_scores(
        make_run("rope").model(), tmp_path, "one\t0\t900\n", progress=lambda _, done, of: told.append((done, of))
    )
    done = [units for units, of in told if of == 1_800]
    assert done == sorted(done) and (done[0], done[-1]) == (0, 1_800) and len(set(done)) > 3


def test_columns_mean_what_they_mean_for_sequences(make_run: MakeRun, tmp_path: Path) -> None:
    model = make_run("rope").model()
    beds = "one\t100\t150\ta\none\t300\t420\tb\none\t880\t900\n"
    found = region_scores(model, tmp_path, beds, context=64, stride=64)  # a stride of all leaves no context before
    texts = [(str(n), encode(BASES[r.interval.start : r.interval.end])) for n, r in enumerate(found)]
    for region, record in zip(found, score_sequences(model, texts, 512, 64, 64), strict=True):
        row: dict[str, Any] = region.row()
        other = record.row()
        assert {name: row[name] for name in other if name != "name"} == pytest.approx(
            {name: cell for name, cell in other.items() if name != "name"}, abs=1e-4
        )
        assert row["bits"] == pytest.approx(-row["mean_log_p_both"] / np.log(2))
    assert [region.row()["name"] for region in found] == ["a", "b", "."]


def test_a_long_region_in_parts_is_the_whole(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_run("goat").model()
    beds = "one\t3\t900\none\t0\t97\n"
    whole = region_scores(model, tmp_path, beds)
    monkeypatch.setattr(readings, "AT_ONCE", 1)
    for region, other in zip(region_scores(model, tmp_path, beds), whole, strict=True):
        assert region.record.forward == pytest.approx(other.record.forward, abs=1e-4)
        assert region.record.reverse == pytest.approx(other.record.reverse, abs=1e-4)


@pytest.mark.parametrize("at_once", [1, 1 << 22])
def test_tracks_lie_on_the_chromosome_in_order(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(readings, "AT_ONCE", at_once)
    model = make_run("rope").model()
    text = BASES[:200] + "N" + BASES[201:]
    turned = "".join("TGCAN"["ACGTN".index(b)] for b in reversed(text[300:600]))
    records = {"chr2:1-300": text[:300], "chr2:301-600/rc": turned}
    seen: list[Segment] = []
    beds = "chr2\t310\t500\nchr2\t150\t260\n"
    region_scores(model, tmp_path, beds, records, track=seen.append)
    places = [(s.sequence, s.start + n) for s in seen for n in range(len(s.values))]
    assert places == [("chr2", at) for at in [*range(150, 200), *range(201, 260), *range(310, 500)]]
    values = np.concatenate([segment.values for segment in seen])
    assert values[:50] == pytest.approx(by_hand(model, text[:300], 150, 260)[:50], abs=1e-4)
    assert values[109:] == pytest.approx(by_hand(model, text[300:600], 10, 200), abs=1e-4)


@pytest.mark.parametrize(
    ("bed", "said"),
    [
        ("two\t0\t5\n", "1 of 1 line about sequences that .* has not"),
        ("one\t890\t901\n", "ends at 900, before 901"),
        ("one\t5\t9\tx\t0\tminus\n", "line 1: strand 'minus'"),
    ],
)
def test_what_is_not_there_is_said(make_run: MakeRun, tmp_path: Path, bed: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        region_scores(make_run().model(), tmp_path, bed)


def test_a_track_has_one_value_a_base(make_run: MakeRun, tmp_path: Path) -> None:
    model = make_run().model()
    overlapping = "one\t5\t20\none\t15\t30\n"
    assert len(region_scores(model, tmp_path, overlapping)) == 2
    with pytest.raises(SourceError, match="lines 1 and 2 share bases of one"):
        region_scores(model, tmp_path, overlapping, track=lambda _: None)


def run_it(*words: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(word) for word in ("score", *words, "--device", "cpu")])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_command_writes_tables_bed_and_tracks(make_run: MakeRun, tmp_path: Path) -> None:
    pyBigWig = pytest.importorskip("pyBigWig", reason="needs the package pyBigWig")
    run = make_run("goat")
    (tmp_path / "g.fa").write_text(fasta({"one": BASES}))
    (tmp_path / "r.bed").write_text("one\t600\t650\tlate\t0\t-\none\t100\t200\n")
    words = ("regions", run.path, tmp_path / "r.bed", "--genome", tmp_path / "g.fa")
    code, out, _ = run_it(*words)
    assert code == 0
    head, late, early = (line.split("\t") for line in out.splitlines())
    assert head == list(module.COLUMNS)
    assert (late[:5], early[:5]) == (["one", "600", "650", "late", "-"], ["one", "100", "200", ".", "."])
    more = ("--out", tmp_path / "t.parquet", "--bed", tmp_path / "s.bed", "--tracks", tmp_path / "tracks")
    code, out, _ = run_it(*words, *more)
    assert code == 0
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert [row["mean_log_p_both"] for row in rows] == pytest.approx(
        [float(line[head.index("mean_log_p_both")]) for line in (late, early)], abs=1e-5
    )
    scored = read_bed(tmp_path / "s.bed")
    assert [(i.name, i.start, i.strand) for i in scored.intervals] == [("one", 600, "-"), ("one", 100, ".")]
    track = pyBigWig.open(out.splitlines()[1])
    assert track.chroms() == {"one": 900}
    assert -np.mean(track.values("one", 100, 200)) == pytest.approx(rows[1]["mean_log_p_forward"], abs=1e-5)
    assert all(np.isnan(track.values("one", 200, 600)))
    track.close()


def test_sequences_are_scored_as_evaluate_does(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("rope")
    (tmp_path / "s.fa").write_text(fasta({"a": BASES[:100], "none": "", "b": BASES[100:130]}))
    code, out, _ = run_it("sequences", run.path, tmp_path / "s.fa")
    result = CliRunner().invoke(app, ["evaluate", str(run.path), "--fasta", str(tmp_path / "s.fa"), "--device", "cpu"])
    assert (code, out) == (0, result.stdout)
    assert [line.split("\t")[0] for line in out.splitlines()] == ["name", "a", "none", "b"]


def test_variants_by_the_command(make_run: MakeRun, tmp_path: Path) -> None:
    pytest.importorskip("pysam", reason="needs the package pysam")
    run = make_run("rope")
    (tmp_path / "g.fa").write_text(fasta({"one": BASES}))
    alt = "CAAA"["ACGT".index(BASES[449])]
    (tmp_path / "c.vcf").write_text(
        "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        f"one\t450\t.\t{BASES[449]}\t{alt},*\t.\t.\t.\n"
    )
    words = ("variants", run.path, tmp_path / "c.vcf", "--genome", tmp_path / "g.fa")
    code, out, err = run_it(*words)
    assert code == 0
    assert "DNAGOAT_LLR=" in out.splitlines()[-1]
    assert "1 record, 1 of 2 alleles scored; not scored: 1 star" in err
    code, out, _ = run_it(*words, "--table", tmp_path / "t.tsv", "--out", tmp_path / "o.bcf")
    assert (code, out.split()) == (0, [str(tmp_path / name) for name in ("o.bcf", "o.bcf.csi", "t.tsv")])
    assert run_it(*words, "--out", tmp_path / "o.txt")[0] == 2
    assert run_it(*words, "--out", tmp_path / "o.bcf")[0] == 2
    assert run_it(*words, "--after", 40)[0] == 2
