"""Any FASTA text: the exact bases, or one sentence; checked against a reading one character at a time."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyfaidx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import decode
from dnagoat.genome.read import source as source_module
from dnagoat.genome.read.fasta import Fasta
from dnagoat.genome.read.records import GapRule, Header
from dnagoat.genome.read.scan import FastaScan
from dnagoat.genome.read.source import Source
from tests.genome.small import packed, random_bases

SEQUENCE = "ACGTNacgtnURYKMuryk"
NAMES = st.from_regex(r"[A-Za-z0-9_|.:=,/é京-]{1,12}", fullmatch=True)


def scanned(path: Path, gaps: GapRule = "refuse") -> tuple[list[tuple[str, str]], FastaScan]:
    scan = FastaScan(Source(path), gaps)
    records: list[tuple[str, str]] = []
    for event in scan.events():
        if isinstance(event, Header):
            records.append((event.name, ""))
        else:
            name, bases = records[-1]
            records[-1] = (name, bases + decode(event.tokens, case=True))
    return records, scan


def as_stored(bases: str) -> str:
    return re.sub("[RYKM]", "N", re.sub("[rykm]", "n", bases.replace("U", "T").replace("u", "t")))


@st.composite
def fasta_texts(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]]]:
    """A FASTA text with all that is allowed in one, and its records."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    end = st.sampled_from(draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])))
    blank = st.sampled_from(draw(st.sampled_from([[""], ["", " ", "\t", "; a comment > of ACGT"]])))
    text = "\ufeff" if draw(st.booleans()) else ""
    text += "".join(draw(blank) + draw(end) for _ in range(draw(st.integers(0, 2))))
    records = []
    for name in names:
        text += f">{name}{draw(st.sampled_from(['', ' about > it', chr(9) + 'x']))}{draw(end)}"
        if draw(st.booleans()):  # even lines
            bases = draw(st.text(SEQUENCE, max_size=60))
            width = draw(st.integers(1, 12))
            lines = [bases[at : at + width] for at in range(0, len(bases), width)]
        else:
            lines = draw(st.lists(st.text(SEQUENCE, max_size=15), max_size=6))
        text += "".join(line + draw(end) for line in lines)
        text += "".join(draw(blank) + draw(end) for _ in range(draw(st.integers(0, 1))))
        records.append((name, as_stored("".join(lines))))
    return (text.rstrip("\r\n") if draw(st.booleans()) else text), records


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scan")


@settings(max_examples=300)
@given(fasta_texts(), st.sampled_from(["plain", "gzip", "bgzip"]), st.integers(1, 40), st.integers(16, 300))
def test_any_text_gives_its_bases_and_a_true_index(
    folder: Path, made: tuple[str, list[tuple[str, str]]], how: str, read: int, block: int
) -> None:
    text, records = made
    path = packed(text.encode(), how, folder / "genome.xyz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "READ", read)
        patch.setattr(source_module, "BLOCK", block)
        got, scan = scanned(path)
    assert got == records
    assert [entry.name for entry in scan.index] == [name for name, _ in records if name not in scan.uneven]
    if how == "gzip":
        return
    scan.write_index(folder)
    with Fasta(path, scan.source.kind, folder) as reader:
        for name, bases in records:
            if name not in scan.uneven:
                for start, end in ((0, len(bases)), (len(bases) // 3, 2 * len(bases) // 3)):
                    assert as_stored(reader.region(name, start, end)) == bases[start:end]


def plainly(data: bytes) -> list[tuple[str, str]] | None:
    """A reading of FASTA bytes one character at a time, or None where there is no FASTA of DNA to read."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    records: list[tuple[str, str]] = []
    for line in text.split(b"\n"):
        if line.startswith(b";"):
            continue
        if line.startswith(b">"):
            words = line[1:].split()
            try:
                name = words[0].decode()
            except (IndexError, UnicodeDecodeError):
                return None
            if line[1:2] in b" \t" or not name.isprintable() or name in dict(records):
                return None
            records.append((name, ""))
            continue
        for letter in line.decode("latin-1").replace(" ", "").replace("\t", ""):
            if not records or letter not in "ACGTUNRYSWKMBDHVacgtunryswkmbdhv":
                return None
            letter = {"U": "T", "u": "t"}.get(letter, letter)
            letter = letter if letter in "ACGTNacgtn" else "N" if letter.isupper() else "n"
            records[-1] = (records[-1][0], records[-1][1] + letter)
    return records or None


@settings(max_examples=300)
@given(fasta_texts(), st.data())
def test_damaged_text_gets_the_plain_reading_or_one_sentence(
    folder: Path, made: tuple[str, list[tuple[str, str]]], data: st.DataObject
) -> None:
    text = bytearray(made[0].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        if data.draw(st.booleans()):
            text[at:at] = data.draw(
                st.one_of(st.binary(min_size=1, max_size=3), st.sampled_from([b">", b"\n>", b"\r"]))
            )
        else:
            del text[at : at + data.draw(st.integers(1, 20))]
    path = folder / "damaged"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "READ", 5)
        patch.setattr(source_module, "BLOCK", 16)
        try:
            got, _ = scanned(path)
        except SourceError as fault:
            assert "\n" not in str(fault)
            # Refused though it could be read: only what holds a zero byte, or begins as another format does.
            assert plainly(bytes(text)) is None or b"\0" in text or text.lstrip()[:1] in (b"<", b"@", b"")
            return
    assert got == plainly(bytes(text))


@settings(max_examples=100)
@given(fasta_texts(), st.sampled_from(["gzip", "bgzip"]), st.data())
def test_a_damaged_gzip_never_gives_other_bases(
    folder: Path, made: tuple[str, list[tuple[str, str]]], how: str, data: st.DataObject
) -> None:
    path = packed(made[0].encode(), how, folder / "damaged.gz")
    whole = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        whole[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del whole[at:]
    path.write_bytes(whole)
    try:
        got, _ = scanned(path)
    except SourceError as fault:
        assert "\n" not in str(fault)
        return
    # A flag or a time stamp in a header changes nothing. A gzip that ends between two of its members is a whole one.
    assert got == (made[1] if how == "bgzip" else plainly(gzip.decompress(whole)))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [0, 1, 59, 60])
def test_the_index_is_that_of_pyfaidx(tmp_path: Path, end: str, last: int) -> None:
    records = {"one": random_bases(180 + last), "two": random_bases(60, 1), "three": random_bases(7, 2)}
    text = "".join(
        f">{name} about it{end}" + "".join(bases[at : at + 60] + end for at in range(0, len(bases), 60))
        for name, bases in records.items()
    )
    path = packed(text.encode(), "plain", tmp_path / "genome.fa")
    _, scan = scanned(path)
    scan.write_index(tmp_path)
    pyfaidx.Faidx(str(path), indexname=str(tmp_path / "theirs.fai")).close()
    assert (tmp_path / "genome.fai").read_text() == (tmp_path / "theirs.fai").read_text()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ACGT\n", "line 1: text before the first header ('ACGT')"),
        ("\n\nhello\n>a\nACGT\n", "line 3: text before the first header ('hello')"),
        ("\n\n", "holds no FASTA record"),
        (">a\nACGT\n>a b\nACGT\n", "line 3: a second record is named a"),
        ("> a\nACGT\n", "line 1: a header without a name"),
        (">\nACGT\n", "line 1: a header without a name"),
        (">a\x1b[31m\nACGT\n", "line 1: the record's name 'a\\x1b[31m' has a control character"),
        (">a\nACGT\nAC-T\n", "line 3, record a: '-' is a gap, not a base; take gaps out"),
        (">a\r\nACGT\r\nAC*T\r\n", "line 3, record a: '*' is a gap"),
        (">a\rACGT\rAC.T\r", "line 3, record a: '.' is a gap"),
        (">a\n\n; c\nMPTI\n", "line 4, record a: 'P' is an amino acid, not a nucleotide; this looks like protein"),
        (">a\nACGT\n1 ACGT\n", "line 3, record a: '1' is not a nucleotide letter"),
        (">a\nAC\x07GT\n", "line 2, record a: byte 0x07 is not a nucleotide letter"),
        (">a\nACX\n", "line 2, record a: 'X' is not a nucleotide letter"),
        (">a\nAC>GT\n", "line 2, record a: '>' is not a nucleotide letter"),
        (f">{'n' * 5000}\nACGT\n>{'n' * 5000}\n", "a second record is named " + "n" * 60 + "… (5,000 characters)"),
        ("@read\nACGT\n+\nIIII\n", "is FASTQ, not FASTA"),
        ("LOCUS       X\n", "is GenBank; convert it to FASTA"),
        ("<!DOCTYPE html>", "is HTML or XML"),
        ("##fileformat=VCFv4.2\n", "is VCF"),
        (">a\nAC\0GT\n", "is a binary file or UTF-16 text"),
    ],
)
def test_what_is_no_fasta_of_dna_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "genome.fa"
    path.write_bytes(text.encode())
    with pytest.raises(SourceError) as fault:
        scanned(path)
    assert sentence in str(fault.value)
    assert str(fault.value).startswith(str(path))
    assert "\n" not in str(fault.value)


def test_gaps_are_dropped_where_asked_and_the_record_leaves_the_index(tmp_path: Path) -> None:
    path = packed(b">a\nAC-GT\n*ACGT\n>b\nACGTA\n", "plain", tmp_path / "genome.fa")
    records, scan = scanned(path, "drop")
    assert records == [("a", "ACGTACGT"), ("b", "ACGTA")]
    assert scan.uneven == ["a"]


def test_utf16_is_named(tmp_path: Path) -> None:
    path = packed(">a\nACGT\n".encode("utf-16"), "plain", tmp_path / "genome.fa")
    with pytest.raises(SourceError, match="UTF-16"):
        scanned(path)


def test_names_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    path = packed(b">chr\xe9\nACGT\n", "plain", tmp_path / "genome.fa")
    with pytest.raises(SourceError, match="line 1: the record's name is not UTF-8"):
        scanned(path)


def test_an_index_beside_the_source_is_not_trusted(tmp_path: Path) -> None:
    bases = random_bases(500)
    path = packed(f">a\n{bases}\n".encode(), "plain", tmp_path / "genome.fa")
    (tmp_path / "genome.fa.fai").write_text("a\t10\t3\t5\t6\nghost\t10\t3\t5\t6\n")
    _, scan = scanned(path)
    (tmp_path / "index").mkdir()
    scan.write_index(tmp_path / "index")
    with Fasta(path, "plain", tmp_path / "index") as reader:
        assert reader.lengths == {"a": 500}
        assert reader.region("a", 123, 456) == bases[123:456]
        with pytest.raises(SourceError, match="outside the 500 bases of a"):
            reader.region("a", 0, 501)
        with pytest.raises(SourceError, match="no indexed record ghost"):
            reader.region("ghost", 0, 1)
