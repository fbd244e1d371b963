"""Intervals of a genome: the store holds what pyfaidx returns for them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import OptionError, SourceError
from dnagoat.genome.alphabet import decode
from dnagoat.genome.dataset import Dataset, open_dataset
from dnagoat.genome.read.fasta import Fasta
from tests.genome.conftest import Prepared
from tests.genome.small import fasta, packed, random_bases, twobit

RECORDS = {"chr1": random_bases(5000, 1, "ACGTacgtN"), "chr2": random_bases(3001, 2), "chr3": random_bases(40, 3)}
BED = "track name=x\n# a comment\nchr2\t10\t3001\tname\t0\t+\n\nchr1\t0\t100\nchr1\t4000\t5000\n"


def stored(dataset: Dataset) -> dict[str, str]:
    return {
        contig.name: decode(dataset.tokens[contig.offset : contig.offset + contig.length], case=True)
        for contig in dataset.contigs
    }


@pytest.mark.parametrize("how", ["plain", "gzip", "bgzip", "2bit"])
def test_only_the_intervals_are_stored(prepared: Prepared, tmp_path: Path, how: str) -> None:
    path = tmp_path / "genome"
    if how == "2bit":
        path.write_bytes(twobit(RECORDS))
    else:
        packed(fasta(RECORDS, 71).encode(), how, path)
    (tmp_path / "chosen.bed").write_text(BED)
    dataset = prepared(path, window=50, max_n=1.0, regions=tmp_path / "chosen.bed", val=("chr2",))
    assert stored(dataset) == {
        "chr2_10_3001": RECORDS["chr2"][10:3001],
        "chr1_0_100": RECORDS["chr1"][:100],
        "chr1_4000_5000": RECORDS["chr1"][4000:],
    }
    assert [(c.chromosome, c.start) for c in dataset.contigs] == [("chr2", 10), ("chr1", 0), ("chr1", 4000)]
    assert dataset.manifest.tally.windows == {"train": 22, "val": 59, "test": 0}
    assert dataset.manifest.rules.regions == "chosen.bed"
    assert "unpacked.fa" not in {file.name for file in dataset.path.iterdir()}


def test_a_piece_of_the_demo_knows_its_place_on_the_chromosome(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "chosen.bed").write_text("chr21_33000000_34000000 1000 9000\n")
    dataset = prepared("demo", regions=tmp_path / "chosen.bed")
    assert [(c.chromosome, c.start, c.length) for c in dataset.contigs] == [("chr21", 33_001_000, 8000)]


@pytest.mark.parametrize("how", ["plain", "bgzip"])
def test_the_store_is_what_pyfaidx_returns_on_random_slices(prepared: Prepared, tmp_path: Path, how: str) -> None:
    path = packed(fasta(RECORDS, 61).encode(), how, tmp_path / "genome.fa")
    (tmp_path / "genome.fa.fai").write_text("chr1\t9\t99\t9\t10\n")  # another file's, beside the source
    dataset = open_dataset(prepared(path, window=20, max_n=1.0).path)
    rng = np.random.default_rng(0)
    with Fasta(path, dataset.manifest.sources[0].kind, dataset.path) as reader:
        assert reader.lengths == {name: len(bases) for name, bases in RECORDS.items()}
        for contig in dataset.contigs:
            for _ in range(100):
                start, end = sorted(rng.integers(0, contig.length + 1, 2).tolist())
                tokens = dataset.tokens[contig.offset + start : contig.offset + end]
                assert decode(tokens, case=True) == reader.region(contig.name, start, end)


def test_a_real_chromosome_is_what_pyfaidx_returns(prepared: Prepared, shared: Path) -> None:
    path = shared / "data" / "human_hg19_chr21_softmasked.fa.gz"
    dataset = prepared(path, split="blocks")
    assert (dataset.manifest.tally.bases, dataset.manifest.tally.n) == (48_129_895, 13_023_253)
    rng = np.random.default_rng(1)
    with Fasta(path, dataset.manifest.sources[0].kind, dataset.path) as reader:
        for start in rng.integers(0, 48_000_000, 200).tolist():
            tokens = dataset.tokens[start : start + 70_001]
            assert decode(tokens, case=True) == reader.region("chr21", start, start + 70_001)


@pytest.mark.parametrize(
    ("bed", "sentence"),
    [
        ("", "is empty"),
        ("# nothing\n", "holds no interval"),
        ("\nchr1\t9\t9\n", "line 2: 9-9 holds no base"),
        (
            "chr1\t0\t10\nchr2\t0\t9\nchr1\t9\t20\n",
            "lines 1 and 3 share bases of chr1; merge them",
        ),
        ("chr9\t0\t10\n", "1 of 1 line about sequences that"),
        ("chr3\t0\t41\n", "ends at 40, before 41; give intervals of the same assembly"),
        ("uneven\t0\t5\n", "the lines of uneven in"),
    ],
)
def test_faults_of_a_bed_file(prepared: Prepared, tmp_path: Path, bed: str, sentence: str) -> None:
    path = packed((fasta(RECORDS) + ">uneven\nAC\nACGT\nA\n").encode(), "plain", tmp_path / "genome.fa")
    (tmp_path / "chosen.bed").write_text(bed)
    with pytest.raises(SourceError, match=re.escape(sentence)) as fault:
        prepared(path, window=20, regions=tmp_path / "chosen.bed")
    assert "\n" not in str(fault.value)


def test_gaps_cannot_be_dropped_from_intervals(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "chosen.bed").write_text("a\t0\t10\n")
    with pytest.raises(OptionError, match="--gaps drop does not go with --regions"):
        prepared({"a": random_bases(100)}, window=10, gaps="drop", regions=tmp_path / "chosen.bed")
