"""A base of a chromosome that two records hold is refused, or left to one of them: no window is a copy of another's."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dnagoat.errors import DatasetError, SourceError
from dnagoat.genome.alphabet import decode, encode, reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.passport import remarks
from tests.genome.conftest import Prepared
from tests.genome.small import fasta, random_bases

CHROMOSOME = random_bases(4000, 7)


def turned(bases: str) -> str:
    return decode(reverse_complement(encode(bases)))


def slice_of(name: str, start: int, end: int) -> dict[str, str]:
    bases = CHROMOSOME[start:end]
    return {name: turned(bases) if name.endswith(("/rc", "(-)")) else bases}


LEFT = slice_of("chr1:1-2000", 0, 2000)
PAIRS = {
    "samtools": (LEFT, slice_of("chr1:1501-3500", 1500, 3500)),
    "bedtools": (LEFT, slice_of("chr1:1500-3500", 1500, 3500)),
    "bedtools with a name": (LEFT, slice_of("gene::chr1:1500-3500(+)", 1500, 3500)),
    "underscores": (LEFT, slice_of("chr1_1500_3500", 1500, 3500)),
    "the other strand": (LEFT, slice_of("chr1:1501-3500/rc", 1500, 3500)),
    "bedtools' other strand": (LEFT, slice_of("chr1:1500-3500(-)", 1500, 3500)),
    "another name of the chromosome": (LEFT, slice_of("1:1501-3500", 1500, 3500)),
    "to the end": (LEFT, slice_of("chr1:1501-", 1500, 4000)),
    "past the end": (LEFT, slice_of("chr1:1501-9000", 1500, 4000)),
    "commas": (LEFT, slice_of("chr1:1,501-3,500", 1500, 3500)),
    "one base": (LEFT, slice_of("chr1:2000-4000", 1999, 4000)),
    "twice the same": (LEFT, slice_of("chr1_0_2000", 0, 2000)),
    "within": (LEFT, slice_of("chr1:501-1500", 500, 1500)),
    "a piece and the whole": ({"chr1": CHROMOSOME}, slice_of("chr1:501-1500", 500, 1500)),
    "a piece and the whole by another name": ({"1": CHROMOSOME}, slice_of("chr1:501-1500", 500, 1500)),
    "a piece of a piece": (LEFT, slice_of("chr1:1001-4000:1-2000", 1000, 3000)),
}


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(("left", "right"), PAIRS.values(), ids=PAIRS)
def test_shared_bases_are_refused(
    prepared: Prepared, left: dict[str, str], right: dict[str, str], blocks: bool
) -> None:
    (test,) = right
    options = {"split": "blocks"} if blocks else {"test": (test,)}
    with pytest.raises(DatasetError, match="cut them apart, or give --overlaps trim") as fault:
        prepared({**left, **right}, window=50, **options)
    assert test in str(fault.value) and "\n" not in str(fault.value)


def test_the_sentence_counts_bases_and_pairs(prepared: Prepared) -> None:
    records = {**LEFT, **slice_of("chr1:1501-3500", 1500, 3500), **slice_of("chr1:1901-2100", 1900, 2100)}
    sentence = "records chr1:1-2000 and chr1:1501-3500 hold the same 500 bases of chr1 (one of 2 such pairs), so"
    with pytest.raises(DatasetError, match=re.escape(sentence)):
        prepared(records, window=50)


def test_neighbours_and_other_chromosomes_share_nothing(prepared: Prepared) -> None:
    records = {**LEFT, **slice_of("chr1:2001-4000", 2000, 4000), "chr2:1-2000": random_bases(2000, 9)}
    assert remarks(prepared(records, window=50, val=("chr2",), test=("chr1:2001-4000",)).manifest) == []


def window_bases(dataset: Dataset) -> list[tuple[str, str, set[int]]]:
    """For each window its split, contig, and the bases of the chromosome that it holds."""
    contigs = {contig.name: contig for contig in dataset.contigs}
    rows = dataset.windows[["split", "contig", "start", "end"]].itertuples(index=False)
    return [(split, name, set(range(*contigs[name].to_home(start, end)))) for split, name, start, end in rows]


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(("left", "right"), PAIRS.values(), ids=PAIRS)
def test_trimmed_windows_share_no_base(
    prepared: Prepared, left: dict[str, str], right: dict[str, str], blocks: bool
) -> None:
    (test,) = right
    options = {"split": "blocks"} if blocks else {"test": (test,)}
    dataset = prepared({**left, **right}, window=20, overlaps="trim", **options)
    rows = window_bases(dataset)
    assert all(not one[2] & other[2] for one, other in combinations(rows, 2))
    if not blocks:  # test keeps all that it has
        assert sum(split == "test" for split, *_ in rows) == len(right[test]) // 20
    assert any("stood in two records left to one" in note for note in remarks(dataset.manifest))
    for contig in dataset.contigs:
        start, end = contig.to_home(0, contig.length)
        bases = decode(dataset.codes(contig.offset, contig.offset + contig.length))
        assert CHROMOSOME[start:end] == (bases if contig.strand == "+" else turned(bases))


def test_any_set_of_slices_is_left_whole_and_once(prepared: Prepared) -> None:
    """What is trimmed is in another record: together the spans hold each base that any record holds, once."""
    rng = np.random.default_rng(0)
    for trial in range(15):
        records: dict[str, str] = {}
        for start in rng.integers(0, 3500, 8).tolist():
            end = int(rng.integers(start + 100, 4001))
            records |= slice_of(f"chr1:{start + 1}-{end}" + ("/rc" if rng.random() < 0.5 else ""), start, end)
        names = list(records)
        dataset = prepared(records, f"d{trial}", window=20, overlaps="trim", test=(names[0],), val=(names[1],))
        held = np.zeros(4000, dtype=int)
        there = np.zeros(4000, dtype=bool)
        for contig in dataset.contigs:
            there[slice(*contig.to_home(0, contig.length))] = True
            for start, end, _ in contig.spans:
                held[slice(*contig.to_home(start, end))] += 1
        assert np.array_equal(held, there)
        (first,) = (contig for contig in dataset.contigs if contig.name == names[0])
        assert [span[:2] for span in first.spans] == [(0, first.length)]


def test_train_stays_a_guard_away_from_trimmed_blocks(prepared: Prepared) -> None:
    dataset = prepared({**LEFT, **slice_of("chr1:501-3500", 500, 3500)}, window=50, split="blocks", overlaps="trim")
    rows = window_bases(dataset)
    held_out = [bases for split, _, bases in rows if split != "train"]
    near = [
        min(abs(min(bases) - max(other)), abs(min(other) - max(bases)))
        for split, _, bases in rows
        if split == "train"
        for other in held_out
    ]
    assert min(near) > 50


COPY = random_bases(900, 4)


@pytest.mark.parametrize("other", [COPY, turned(COPY), COPY.lower()], ids=["same", "other strand", "masked"])
def test_a_copy_without_a_place_may_not_be_in_two_splits(prepared: Prepared, other: str) -> None:
    records = {"a": COPY, "b": random_bases(900, 5), "c": other}
    assert prepared(records, "one", window=50, test=("b",)).manifest.tally.windows["train"] == 36
    for options in ({"test": ("c",)}, {"split": "blocks"}):
        with pytest.raises(DatasetError, match=r"records a and c hold the same 900 bases"):
            prepared(records, "two", window=20, **options)
    trimmed = prepared(records, "three", window=50, overlaps="trim", test=("c",))
    assert [len(contig.spans) for contig in trimmed.contigs] == [0, 1, 1]


def test_a_chromosome_under_two_names_is_one_where_its_bases_are(prepared: Prepared) -> None:
    with pytest.raises(DatasetError, match="records chr1 and 1 hold the same"):
        prepared({"chr1": COPY, "1": COPY}, window=50)
    two = prepared({"chr1": COPY, "1": random_bases(900, 5)}, "two", window=50, test=("1",))
    assert two.manifest.tally.windows == {"train": 18, "val": 0, "test": 18}


def test_intervals_that_share_bases_are_refused_or_trimmed(prepared: Prepared, tmp_path: Path) -> None:
    (tmp_path / "genome.fa").write_text(fasta({"chr1": CHROMOSOME}))
    bed = tmp_path / "chosen.bed"
    bed.write_text("chr1\t0\t2000\n1\t1500\t3500\n")
    with pytest.raises(SourceError, match="lines 1 and 2 share bases of chr1"):
        prepared(tmp_path / "genome.fa", window=50, regions=bed)
    dataset = prepared(tmp_path / "genome.fa", window=50, regions=bed, overlaps="trim")
    assert dataset.manifest.tally.windows["train"] == 70
    assert any("1 is read as chr1" in note for note in remarks(dataset.manifest))


def test_splits_are_named_by_the_same_rule(prepared: Prepared) -> None:
    dataset = prepared({"chr1": COPY, "chr2": random_bases(900, 5)}, window=50, test=("2",))
    assert dataset.manifest.tally.windows["test"] == 18
    assert any("2 is read as chr2" in note for note in remarks(dataset.manifest))


def test_a_record_whose_gaps_were_dropped_has_no_place(prepared: Prepared) -> None:
    gapped = "-" * 40 + CHROMOSOME[:960]
    dataset = prepared({"chr1:1-1000": gapped, "chr1:1001-2000": CHROMOSOME[1000:2000]}, window=50, gaps="drop")
    assert [contig.start for contig in dataset.contigs] == [None, 1000]
