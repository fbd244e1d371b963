"""Strata against masks made by hand: each divides the scored bases, and its NLL is the mean over its own."""

from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import OptionError, SourceError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures.strata import gc_deciles
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.marks import Marks, read_marks
from dnagoat.evaluation.scoring.pieces import stretches
from dnagoat.evaluation.scoring.scored import scores_of
from dnagoat.genome.alphabet import decode, reverse_complement
from dnagoat.genome.dataset import Dataset
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000)


@pytest.fixture
def bed(tmp_path: Path) -> Path:
    """Of the contig chr7_1000_5000: its bases 0-100 under its own name, 150-200 under the chromosome's."""
    path = tmp_path / "some.bed"
    path.write_text("track name=x\nchr7_1000_5000\t0\t100\n\n# a remark\n7\t1150\t1200\tgene\nchr1\t5\t9\n")
    return path


def test_two_bed_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """Their strata could not be told apart, and one group would hold both."""
    a, b = tmp_path / "a" / "exons.bed", tmp_path / "b" / "exons.bed"
    for other in (b, a):
        with pytest.raises(OptionError, match=r"a/exons\.bed and .*exons\.bed have the same name.*rename one"):
            QUICK.but(strata=(a, other))
    assert QUICK.but(strata=(a, b.with_name("genes.bed"))).strata[1].name == "genes.bed"


def test_marks_of_a_bed_file(dataset: Dataset, bed: Path) -> None:
    test = dataset.contigs[2]
    assert (test.home, test.start) == ("chr7", 1000)
    held = read_marks(bed, dataset).hold(np.arange(test.offset - 5, test.offset + test.length))
    expected = np.zeros(test.length + 5, dtype=bool)
    expected[5:105] = expected[155:205] = True
    assert np.array_equal(held, expected)


def test_overlapping_and_nested_marks() -> None:
    marks = Marks(np.array([10, 0, 2, 12, 30]), np.array([15, 8, 4, 20, 31]))
    assert np.flatnonzero(marks.hold(np.arange(40))).tolist() == [*range(8), *range(10, 20), 30]


@pytest.mark.parametrize(
    ("text", "said"),
    [("chr1\t5\t9\n", "marks no base"), ("chr7\tx\t9\n", "line 1 is not BED"), ("chr7\t9\t5\n", "before it begins")],
)
def test_bad_bed_files(dataset: Dataset, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.bed").write_text(text)
    with pytest.raises(SourceError, match=said):
        read_marks(tmp_path / "bad.bed", dataset)


def test_strata_divide_the_scored_bases(make_run: MakeRun, dataset: Dataset, bed: Path) -> None:
    run = make_run("goat")
    options = QUICK.but(strata=(bed,))
    result = ensure(run, "strata", options)
    scores = scores_of(run, dataset, options)
    at, known = scores.pieces.positions(), ~np.isnan(scores.losses)
    groups = {group["name"]: {row["name"]: row for row in group["strata"]} for group in result["groups"]}
    assert list(groups) == ["repeats", "seen", "gc", "cpg", "distance", "some.bed"]
    for rows in groups.values():
        assert sum(row["count"] for row in rows.values()) == result["count"]
        assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
        total = sum((row["value"] or 0) * row["count"] for row in rows.values())
        assert total / result["count"] == pytest.approx(np.nanmean(scores.losses), abs=1e-6)

    text = {split: dataset.codes(*stretches(dataset, split)[0]) for split in ("train", "test")}
    both = [decode(text["train"]), decode(reverse_complement(text["train"]))]
    first = dataset.starts("test")[0]
    words = [decode(text["test"][max(place - 16, 0) : place]) for place in at - first]
    unread = np.array([(place - first) % 64 < 16 or "N" in word for place, word in zip(at, words, strict=True)])
    times = np.array([sum(strand.count(word) for strand in both) for word in words])

    inside = (at - dataset.contigs[2].offset < 100) | np.isin(at - dataset.contigs[2].offset, range(150, 200))
    codes = dataset.codes(0, len(dataset.tokens))
    masks = {
        ("some.bed", "inside"): inside,
        ("repeats", "soft-masked"): dataset.tokens[at] >= 8,
        ("distance", "0"): at % 64 == dataset.starts("test")[0] % 64,
        ("distance", "32 to 63"): (at - dataset.starts("test")[0]) % 64 >= 32,
        ("seen", "fewer than 16 read"): unread,
        ("seen", "never"): ~unread & (times == 0),
        ("cpg", "C of CpG"): (codes[at] == 1) & (codes[at + 1] == 2),
        ("cpg", "G of CpG"): (codes[at] == 2) & (codes[at - 1] == 1),
    }
    for (group, name), mask in masks.items():
        row = groups[group][name]
        assert row["count"] == (mask & known).sum()
        assert row["value"] == pytest.approx(scores.losses[mask & known].mean(dtype=np.float64), abs=1e-6)
        assert row["interval"][0] <= row["value"] <= row["interval"][1]


def test_a_rare_stratum_says_how_many_blocks_it_has(make_run: MakeRun, bed: Path) -> None:
    """The split has 40 blocks of 100 bases, the regions of the BED file lie in two of them."""
    result = ensure(make_run(), "strata", QUICK.but(strata=(bed,)))
    rows = {(group["name"], row["name"]): row["blocks"] for group in result["groups"] for row in group["strata"]}
    assert result["blocks"] >= 30
    assert rows["some.bed", "inside"] == 2
    assert rows["repeats", "unique"] + rows["repeats", "soft-masked"] == result["blocks"] + 1  # one holds both
    (said,) = [text for text in result["warnings"] if text.startswith("some.bed")]
    assert "fewer than 30 blocks" in said and "inside (2)" in said and "outside" not in said
    alone = ensure(make_run("nope"), "strata", QUICK.but(block=1000))
    assert [text for text in alone["warnings"] if "blocks" in text] == [
        "only 4 blocks of 1,000 bases: the interval is too narrow below 30"
    ]


def test_gc_is_that_of_the_window_not_of_the_few_bases_that_are_scored(make_run: MakeRun, dataset: Dataset) -> None:
    options = QUICK.but(context=64, stride=4)
    scores = scores_of(make_run(), dataset, options)
    group, pieces = gc_deciles(dataset, scores), scores.pieces
    first = pieces.offsets[:-1]
    for start, width, label in zip(pieces.starts, pieces.widths, group.labels[first], strict=True):
        codes = dataset.codes(int(start), int(start + width))
        share = np.isin(codes, [1, 2]).sum() / (codes < 4).sum()
        stratum = group.strata[label]
        assert stratum.low is not None and stratum.high is not None
        assert stratum.low - 1e-12 <= share <= stratum.high + 1e-12


def test_gc_deciles_are_tenths_of_the_windows_in_order(make_run: MakeRun) -> None:
    rows = next(g for g in ensure(make_run(), "strata", QUICK)["groups"] if g["name"] == "gc")["strata"]
    edges = [edge for row in rows for edge in (row["low"], row["high"])]
    assert edges == sorted(edges)
    assert all(0.02 < row["share"] < 0.25 for row in rows)


def test_bounds_are_numbers_that_the_names_say(make_run: MakeRun) -> None:
    """Each bound is read from the result; a reader's name for it says the same, rounded."""
    groups = {group["name"]: group["strata"] for group in ensure(make_run(), "strata", QUICK)["groups"]}
    assert [(row["low"], row["high"]) for row in groups["seen"]] == [
        (None, None), (0, 0), (1, 1), (2, 9), (10, 99), (100, 999), (1000, None),
    ]  # fmt: skip
    assert [(row["low"], row["high"]) for row in groups["distance"]] == [
        (0, 0), (1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, 63),
    ]  # fmt: skip
    for row in groups["gc"]:
        assert row["name"] in (f"{row['low']:.1%} to {row['high']:.1%}", f"{row['low']:.1%}")
    assert all(row["low"] is row["high"] is None for name in ("repeats", "cpg") for row in groups[name])
