"""The one reader of intervals: what a BED file may look like, what is refused, and what names mean."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import SourceError
from dnagoat.evaluation.scoring.marks import read_marks
from dnagoat.generation.prompts import from_regions
from dnagoat.genome.alphabet import decode, reverse_complement
from dnagoat.genome.dataset import Contig, Dataset
from dnagoat.genome.read.bed import locate, locate_whole, read_bed
from tests.genome.conftest import Prepared
from tests.genome.small import fasta, random_bases

Write = Callable[[str | bytes], Path]


@pytest.fixture
def bed(tmp_path: Path) -> Write:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "some.bed"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        "chr1\t5\t9\tx\t0\t-\nchr2\t1\t2\n",
        "\ufeffchr1\t5\t9\tx\t0\t-\r\nchr2\t1\t2\r\n",
        "browser position chr1:1-9\n#c\ntrack name=x\n\nchr1\t5\t9\tx\t0\t-\n  \nchr2 1 2",
        "chrom\tchromStart\tchromEnd\nchr1\t5\t9\tx\t0\t-\nchr2\t1\t2\n",
        "#chrom\tstart\tend\nchr1\t5\t9\tx\t0\t-\rchr2\t1\t2\r",
        gzip.compress(b"chr1\t5\t9\tx\t0\t-\n") + gzip.compress(b"chr2\t1\t2\n"),
    ],
    ids=["plain", "BOM and CRLF", "display lines", "heading", "CR", "gzip"],
)
def test_one_file_in_many_dresses(bed: Write, content: str | bytes) -> None:
    found = [interval[:4] for interval in read_bed(bed(content)).intervals]
    assert found == [("chr1", 5, 9, "-"), ("chr2", 1, 2, None)]


def test_lines_keep_their_numbers_and_a_contig_may_be_called_track(bed: Write) -> None:
    found = read_bed(bed("# a\n\ntrack1\t0\t5\nbrowserX 1 2\nstart 1 9\n")).intervals
    assert [(interval.name, interval.line) for interval in found] == [("track1", 3), ("browserX", 4), ("start", 5)]


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_and_pipes_are_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, packed: bool) -> None:
    content = b"chr1\t5\t9\n"
    raw = gzip.compress(content) if packed else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    from dnagoat.genome.read import bed

    bed._read_stream.cache_clear()
    first, again = read_bed(Path("-")), read_bed(Path("-"))
    assert first.intervals[0][:3] == ("chr1", 5, 9) and first.title == "standard input" and again is first
    bed._read_stream.cache_clear()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'wb').write({raw!r})"])
    assert read_bed(pipe).intervals[0][:3] == ("chr1", 5, 9)
    assert child.wait() == 0


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("chr1\t10", "line 2 is not BED: it needs a sequence, a start and an end"),
        ("chr1\t10\tx", "'x' is no whole number"),
        ("chr1\t1_0\t20", "'1_0' is no whole number"),
        ("chr1\t1.5\t20", "'1.5' is no whole number"),
        ("chr1\t1e3\t2000", "'1e3' is no whole number"),
        ("chr1\t²\t20", "'²' is no whole number"),
        ("chr1\t+1\t20", "'+1' is no whole number"),
        ("chr1\t-1\t5", "'-1' lies before the sequence's first base"),
        ("chr1\t9\t9", "line 2: 9-9 holds no base"),
        ("chr1\t9\t5", "line 2: 9-5 ends before it begins"),
        ("chrom\tstart\tend", "'start' is no whole number"),
    ],
)
def test_a_line_that_is_no_interval_is_named(bed: Write, line: str, sentence: str) -> None:
    with pytest.raises(SourceError, match=re.escape(sentence)) as fault:
        read_bed(bed(f"chr1\t0\t5\n{line}\n"))
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize("content", ["", "# no\n\n", "chrom\tstart\tend\n"])
def test_a_file_without_an_interval(bed: Write, content: str) -> None:
    with pytest.raises(SourceError, match=r"is empty|holds no interval"):
        read_bed(bed(content))


def test_another_format_is_named_for_what_it_is(bed: Write) -> None:
    with pytest.raises(SourceError, match="is VCF, not BED"):
        read_bed(bed("##fileformat=VCFv4.2\n"))


def test_utf16_is_named_for_what_it_is(bed: Write) -> None:
    with pytest.raises(SourceError, match="UTF-16"):
        read_bed(bed("chr1\t0\t5\n".encode("utf-16")))


CONTIGS = [
    Contig(name="chr1", offset=0, length=100),
    Contig(name="1", offset=100, length=80),
    Contig(name="chrM", offset=180, length=20),
    Contig(name="chr7_1000_1050", offset=200, length=50, chromosome="chr7", start=1000),
    Contig(name="chr7:2001-2050/rc", offset=250, length=50, chromosome="chr7", start=2000, strand="-"),
    Contig(name="x_5_9", offset=300, length=4, chromosome="x", start=5, chromosome_length=30),
]


def absolute(path: Path) -> list[tuple[int, int]]:
    return [
        (c.offset + start, c.offset + end) for c, start, end, *_ in locate(read_bed(path), CONTIGS, "here").stretches
    ]


def test_the_exact_name_wins_and_an_alias_serves_without_one(bed: Write) -> None:
    path = bed("1\t0\t5\nchr1\t0\t6\nMT\t1\t2\n7\t1000\t1003\nchr7_1000_1050\t0\t4\nchr7\t2000\t2007\n")
    assert absolute(path) == [(100, 105), (0, 6), (181, 182), (200, 203), (200, 204), (293, 300)]
    notes = locate(read_bed(path), CONTIGS, "here").notes
    assert [note.split(": ", 1)[1] for note in notes] == [
        "MT is read as chrM",
        "7 is read as chr7",
        "1 is read as 1 alone, not as chr1",
        "chr1 is read as chr1 alone, not as 1",
    ]


def test_unknown_names_are_counted_and_what_lies_between_pieces_too(bed: Write) -> None:
    located = locate(
        read_bed(bed("chr9\t0\t5\nchr9\t7\t8\nq\t0\t1\nchr7\t1040\t1060\nchr7\t1900\t1950\n")), CONTIGS, "h"
    )
    assert dict(located.unknown) == {"chr9": 2, "q": 1}
    assert [interval.start for interval in located.outside] == [1040, 1900]
    assert [stretch[1:3] for stretch in located.stretches] == [(40, 50)]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("chr1\t90\t101", "chr1 of here ends at 100, before 101; give intervals of the same assembly"),
        ("chr7_1000_1050\t0\t51", "ends at 50, before 51"),
        ("x\t20\t31", "ends at 30, before 31"),
    ],
)
def test_a_line_past_the_end_is_of_another_assembly(bed: Write, line: str, sentence: str) -> None:
    with pytest.raises(SourceError, match=re.escape(sentence)):
        locate(read_bed(bed(f"{line}\n")), CONTIGS, "here")


def test_what_is_asked_for_whole_must_lie_in_one_piece(bed: Write) -> None:
    assert [stretch[1:3] for stretch in locate_whole(read_bed(bed("x\t5\t9\n")), CONTIGS, "here").stretches] == [(0, 4)]
    with pytest.raises(SourceError, match=r"chr7:1,040-1,060 does not lie within one of the pieces of chr7"):
        locate_whole(read_bed(bed("chr7\t1040\t1060\n")), CONTIGS, "here")


GENOME = {"chrA": random_bases(6000, 1), "chrB": random_bases(5000, 2)}


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def genome(tmp_path: Path) -> Path:
    for tool in ("bedtools", "samtools"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed, and is the judge here")
    path = tmp_path / "genome.fa"
    path.write_text(fasta(GENOME))
    return path


@pytest.mark.parametrize("how", ["bedtools", "bedtools -s", "bedtools -name", "samtools", "samtools -i"])
def test_strata_of_slices_are_what_bedtools_intersects(
    prepared: Prepared, genome: Path, tmp_path: Path, how: str
) -> None:
    """Slices cut by either tool, intervals in assembly coordinates: the bases that are marked are bedtools' own."""
    slices = tmp_path / "slices.bed"
    slices.write_text("chrA\t100\t2100\tg1\t0\t+\nchrA\t3000\t5500\tg2\t0\t-\nchrB\t2000\t4000\tg3\t0\t-\n")
    if how.startswith("bedtools"):
        flags = how.split()[1:]
        text = run("bedtools", "getfasta", *flags, "-fi", genome, "-bed", slices)
    else:
        flags = how.split()[1:]
        text = run("samtools", "faidx", *flags, genome, "chrA:101-2100", "chrA:3,001-5,500", "chrB:2001-4000")
    cut = tmp_path / "cut.fa"
    cut.write_text(text)
    dataset = prepared(cut, window=50)
    assert [(c.home, c.start) for c in dataset.contigs] == [("chrA", 100), ("chrA", 3000), ("chrB", 2000)]
    rng = np.random.default_rng(5)
    rows = [
        ("chrA" if a < 0.5 else "chrB", int(s), int(s + w))
        for a, s, w in zip(rng.random(60), rng.integers(0, 4700, 60), rng.integers(1, 300, 60), strict=True)
    ]
    chosen = tmp_path / "chosen.bed"
    chosen.write_text("".join(f"{name}\t{start}\t{end}\n" for name, start, end in rows))
    merged = tmp_path / "merged.bed"
    merged.write_text(run("bedtools", "merge", "-i", _sorted(chosen)))
    inside = run("bedtools", "intersect", "-a", slices, "-b", merged)
    expected = sum(int(line.split("\t")[2]) - int(line.split("\t")[1]) for line in inside.splitlines())
    held = read_marks(chosen, dataset).hold(np.arange(len(dataset.tokens)))
    assert held.sum() == expected > 1000
    for place in np.flatnonzero(held)[::37].tolist():
        contig, at = dataset.locate(place)
        home, _ = contig.to_home(at, at + 1)
        base = decode(dataset.codes(place, place + 1))
        turned = decode(reverse_complement(dataset.codes(place, place + 1)))
        assert GENOME[contig.home][home] == (base if contig.strand == "+" else turned)


def _sorted(path: Path) -> Path:
    ordered = path.with_suffix(".sorted.bed")
    ordered.write_text(run("bedtools", "sort", "-i", path))
    return ordered


@pytest.mark.parametrize("sliced", [False, True])
def test_prompts_are_what_bedtools_cuts(prepared: Prepared, genome: Path, tmp_path: Path, sliced: bool) -> None:
    source = genome
    if sliced:
        source = tmp_path / "cut.fa"
        source.write_text(run("samtools", "faidx", "-i", genome, "chrA:1-4000", "chrB:501-5000"))
    dataset = prepared(source, window=50)
    regions = tmp_path / "regions.bed"
    regions.write_text("chrA\t7\t90\tx\t0\t-\nB\t600\t900\ty\t0\t+\nchrA\t3000\t4000\tz\t0\t.\n")
    said: list[str] = []
    prompts = from_regions(regions, dataset, said.append)
    regions.write_text(regions.read_text().replace("B\t600", "chrB\t600"))
    lines = run("bedtools", "getfasta", "-s", "-fi", genome, "-bed", regions).splitlines()
    assert [decode(prompt.codes) for prompt in prompts] == lines[1::2]
    assert len(said) == 1 and "B is read as chrB" in said[0]


def test_prepared_regions_are_what_bedtools_and_pyfaidx_cut(prepared: Prepared, genome: Path, tmp_path: Path) -> None:
    import pyfaidx

    bed = tmp_path / "chosen.bed"
    bed.write_bytes(b"\xef\xbb\xbfA\t10\t700\r\nchrB\t0\t5000\r\nchrA\t5990\t6000\r\n")
    dataset: Dataset = prepared(genome, window=10, regions=bed)
    stored = [decode(dataset.codes(c.offset, c.offset + c.length)) for c in dataset.contigs]
    reader = pyfaidx.Fasta(str(genome))
    assert stored == [str(reader[c.home][c.start : c.start + c.length]) for c in dataset.contigs]  # type: ignore[operator]
    bed.write_text("chrA\t10\t700\nchrB\t0\t5000\nchrA\t5990\t6000\n")
    assert stored == run("bedtools", "getfasta", "-fi", genome, "-bed", bed).splitlines()[1::2]
    assert [c.home_length for c in dataset.contigs] == [6000, 5000, 6000]
