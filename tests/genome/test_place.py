"""Where a record lies on a chromosome: what each tool writes, and what is no place at all."""

from __future__ import annotations

import numpy as np
import pytest

from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import find_place


@pytest.mark.parametrize(
    ("name", "length", "place"),
    [
        ("chr1:30001-70000", 40_000, ("chr1", 30_000, "+")),
        ("chrB:2000-4000", 2000, ("chrB", 2000, "+")),
        ("chrB:2000-4000", 2001, ("chrB", 1999, "+")),
        ("chrB:0-10", 10, ("chrB", 0, "+")),
        ("gene::chrB:2000-4000(-)", 2000, ("chrB", 2000, "-")),
        ("a::b::chrB:2000-4000", 2000, ("chrB", 2000, "+")),
        ("chrB:2000-4000(.)", 2000, ("chrB", 2000, "+")),
        ("chr1:30001-70000/rc", 40_000, ("chr1", 30_000, "-")),
        ("chr1:30,001-70,000", 40_000, ("chr1", 30_000, "+")),
        ("chr1:4001", 1000, ("chr1", 4000, "+")),
        ("chr1:4001-", 1000, ("chr1", 4000, "+")),
        ("chr1:-50", 50, ("chr1", 0, "+")),
        ("chr1:4901-9000", 100, ("chr1", 4900, "+")),
        ("HLA-A*01:01:3-8", 6, ("HLA-A*01:01", 2, "+")),
        ("NC_000021.9:c200-101", 100, ("NC_000021.9", 100, "-")),
        ("chr21_100_200", 100, ("chr21", 100, "+")),
        ("chr21_100_200_10_20", 10, ("chr21", 110, "+")),
        ("chr21_100_200:11-20", 10, ("chr21", 110, "+")),
        ("chr21:101-200:11-20", 10, ("chr21", 110, "+")),
        ("chr21:101-200/rc:11-20", 10, ("chr21", 180, "-")),
        ("chr21:101-200/rc:11-20/rc", 10, ("chr21", 180, "+")),
    ],
)
def test_names_of_pieces(name: str, length: int, place: tuple[str, int, str]) -> None:
    assert find_place(name, length) == place


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("chr1", 100),
        ("HLA-A*01:01", 100),
        ("HLA-A*01:01:01:01", 100),
        ("gene:12", 100),
        ("sample:1-100", 57),
        ("chr1:1-100", 300),
        ("chr1:0-100", 57),
        ("NODE_1_length_100_cov_5", 100),
        ("scaffold_10_90", 100),
        ("chr1:", 10),
        ("chr1:-", 10),
        ("chr1:,-,", 10),
    ],
)
def test_a_name_that_its_length_does_not_bear_out_is_no_place(name: str, length: int) -> None:
    assert find_place(name, length) is None


def test_descriptions_of_browsers() -> None:
    ucsc = "range=chr21:101-200 5'pad=0 3'pad=0 strand=- repeatMasking=none"
    assert find_place("hg38_dna", 100, ucsc) == ("chr21", 100, "-")
    assert find_place("hg38_dna", 99, ucsc) is None
    assert find_place("chromosome:GRCh38:21:101:200:-1", 100) == ("21", 100, "-")
    assert find_place("21", 200, "dna:chromosome chromosome:GRCh37:21:1:200:1 REF") is None  # the whole, at home


def test_coordinates_go_there_and_back() -> None:
    rng = np.random.default_rng(0)
    for strand in ("+", "-"):
        contig = Contig(name="x", offset=0, length=100, chromosome="chr1", start=40, strand=strand)
        for _ in range(50):
            start, end = sorted(rng.integers(0, 101, 2).tolist())
            first, last = contig.to_home(start, end)
            assert 40 <= first <= last <= 140 and last - first == end - start
            assert contig.from_home(first, last) == (start, end)
    assert Contig(name="x", offset=0, length=9, chromosome="c", start=1, strand="-").to_home(0, 2) == (8, 10)
