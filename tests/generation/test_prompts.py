"""Prompts: the very bases that were meant, from every source, and one sentence where they are no DNA."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from Bio.Seq import Seq

from dnagoat.errors import DnagoatError, PromptError, SourceError
from dnagoat.generation.prompts import from_fasta, from_regions, from_split, from_text, nothing, random_loci
from dnagoat.genome.alphabet import N, decode
from dnagoat.genome.dataset import Dataset


def silent(note: str) -> None:
    pytest.fail(f"nothing is to be said here, but: {note}")


def test_text_is_read_in_either_case() -> None:
    assert decode(from_text(" acGT\nNn", silent).codes) == "ACGTNN"
    assert len(nothing().codes) == 0


def test_iupac_letters_become_n_and_u_becomes_t_and_both_are_said() -> None:
    said: list[str] = []
    assert decode(from_text("ARYUu", said.append).codes) == "ANNTT"
    assert len(said) == 2 and "2 IUPAC" in said[0] and "2 U" in said[1]


@pytest.mark.parametrize(
    ("text", "letter"), [("ACGE", "'E'"), ("AC-GT", "'-'"), ("ACG*", "'*'"), ("ACGÄ", "byte 0xc3")]
)
def test_letters_that_are_no_dna_are_refused(text: str, letter: str) -> None:
    with pytest.raises(PromptError) as fault:
        from_text(text, silent)
    assert letter in str(fault.value) and "\n" not in str(fault.value)


@pytest.mark.parametrize("packed", [False, True])
def test_fasta_gives_a_prompt_a_record(tmp_path: Path, packed: bool) -> None:
    text = ">a first\nACGT\nacgt\n>b\n\n>c\r\nTTTT\r\nNN\r\n"
    path = tmp_path / "prompts.fa"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    prompts = from_fasta(path, silent)
    assert [(prompt.name, decode(prompt.codes)) for prompt in prompts] == [
        ("a", "ACGTACGT"),
        ("b", ""),
        ("c", "TTTTNN"),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"ACGT\n", "not FASTA"),
        (b"@r\nACGT\n+\nIIII\n", "FASTQ"),
        (">a\nACGT\n".encode("utf-16"), "UTF-16"),
        (b">a\nMKVLE\n", "'L'"),
        (gzip.compress(b">a\n" + b"ACGT" * 5000, mtime=0)[:-9], "cut short"),
    ],
)
def test_a_file_that_is_no_fasta_is_named_for_what_it_is(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "prompts.fa"
    path.write_bytes(content)
    with pytest.raises(DnagoatError, match=sentence) as fault:
        from_fasta(path, lambda note: None)
    assert "\n" not in str(fault.value)


def contig(dataset: Dataset, name: str) -> str:
    (found,) = (one for one in dataset.contigs if one.name == name)
    return decode(dataset.codes(found.offset, found.offset + found.length))


def test_regions_are_read_from_their_own_strand(dataset: Dataset, tmp_path: Path) -> None:
    bed = tmp_path / "regions.bed"
    bed.write_text("# made by hand\ntrack name=x\ntwo\t100\t130\tx\t0\t-\nthree 7 9\none\t0\t4000\tall\t.\t.\n")
    minus, short, whole = from_regions(bed, dataset, silent)
    assert decode(minus.codes) == str(Seq(contig(dataset, "two")[100:130]).reverse_complement())
    assert (minus.contig, minus.start, minus.end, minus.strand, minus.name) == ("two", 100, 130, "-", "two:100-130(-)")
    assert decode(short.codes) == contig(dataset, "three")[7:9]
    assert decode(whole.codes) == contig(dataset, "one")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("four\t1\t2", r"about sequences that .* has not \(four 1\); it has one, two, three"),
        ("one\t3990\t4001", "ends at 4,000, before 4,001"),
        ("one\t5\t9\tn\t0\tboth", "strand 'both'"),
    ],
)
def test_a_wrong_region_is_named_with_its_line(dataset: Dataset, tmp_path: Path, line: str, sentence: str) -> None:
    bed = tmp_path / "regions.bed"
    bed.write_text(f"# a comment\n{line}\n")
    with pytest.raises(SourceError, match=sentence):
        from_regions(bed, dataset, silent)


def test_turning_twice_is_no_turning(dataset: Dataset) -> None:
    prompt = from_split(dataset, "test", 1, 40, 0)[0]
    turned = prompt.turned()
    assert decode(turned.codes) == str(Seq(decode(prompt.codes)).reverse_complement())
    assert turned.name == prompt.name.replace("(+)", "(-)")
    assert np.array_equal(turned.turned().codes, prompt.codes) and turned.turned().name == prompt.name


def test_a_split_gives_random_windows_of_its_own_without_n(dataset: Dataset) -> None:
    prompts = from_split(dataset, "test", 20, 100, 1)
    text = contig(dataset, "three")
    starts = [prompt.start for prompt in prompts if prompt.start is not None]
    assert all(decode(prompt.codes) == text[start : start + 100] for start, prompt in zip(starts, prompts, strict=True))
    assert {(prompt.contig, prompt.end) for prompt in prompts} == {("three", start + 100) for start in starts}
    assert all(N not in prompt.codes for prompt in prompts)
    assert starts == sorted(starts) and min(np.diff(starts)) >= 100
    assert starts != [prompt.start for prompt in from_split(dataset, "test", 20, 100, 2)]


def test_more_loci_begin_with_the_same_ones(dataset: Dataset) -> None:
    assert random_loci(dataset, "val", 30, 60, 0)[:10] == random_loci(dataset, "val", 10, 60, 0)


def test_a_split_without_enough_room_says_how_much_there_is(dataset: Dataset) -> None:
    with pytest.raises(PromptError, match=r"0 windows with 5,000 known bases"):
        from_split(dataset, "val", 1, 5_000, 0)
