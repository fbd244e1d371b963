"""Compressed bytes: damage is told, and judged after what came before it."""

from __future__ import annotations

import gzip
import struct
from hashlib import sha256
from pathlib import Path

import pytest
from Bio import bgzf

from dnagoat.errors import SourceError
from dnagoat.genome.read.source import Source
from tests.genome.small import fasta, packed, random_bases

TEXT = fasta({"a": random_bases(30_000)}).encode()


def read(path: Path) -> bytes:
    return b"".join(Source(path).blocks())


@pytest.mark.parametrize(("how", "kind"), [("plain", "plain"), ("gzip", "gzip"), ("bgzip", "bgzip")])
def test_kind_is_told_by_content_and_the_hash_is_that_of_the_file(tmp_path: Path, how: str, kind: str) -> None:
    path = packed(TEXT, how, tmp_path / "wrong.name")
    source = Source(path)
    assert b"".join(source.blocks()) == TEXT
    assert (source.kind, source.sha256) == (kind, sha256(path.read_bytes()).hexdigest())


def test_bgzip_blocks_are_where_biopython_says(tmp_path: Path) -> None:
    path = packed(TEXT, "bgzip", tmp_path / "genome.gz")
    source = Source(path)
    read_all = b"".join(source.blocks())
    with path.open("rb") as handle:
        blocks = [(start, data) for start, _, data, length in bgzf.BgzfBlocks(handle) if length]
    assert source.gzi == blocks[1:]
    source.write_gzi(tmp_path / "genome.gzi")
    count, *_ = struct.unpack("<Q", (tmp_path / "genome.gzi").read_bytes()[:8])
    assert count == len(blocks) - 1
    assert read_all == TEXT


def test_padding_after_gzip_is_allowed_and_anything_else_is_not(tmp_path: Path) -> None:
    path = tmp_path / "genome.gz"
    path.write_bytes(gzip.compress(TEXT) + b"\0" * 512)
    assert read(path) == TEXT
    path.write_bytes(gzip.compress(TEXT) + b"ACGT")
    with pytest.raises(SourceError, match="something else after its gzip data"):
        read(path)


@pytest.mark.parametrize("how", ["gzip", "bgzip"])
@pytest.mark.parametrize("share", [0.001, 0.2, 0.9, 0.9999])
def test_a_gzip_that_was_cut_short_is_refused(tmp_path: Path, how: str, share: float) -> None:
    whole = packed(TEXT, how, tmp_path / "whole.gz").read_bytes()
    path = tmp_path / "cut.gz"
    path.write_bytes(whole[: max(int(len(whole) * share), 3)])
    with pytest.raises(SourceError, match="cut short"):
        read(path)


def test_gzip_behind_bgzip_is_read_as_gzip(tmp_path: Path) -> None:
    path = packed(TEXT, "bgzip", tmp_path / "genome.gz")
    path.write_bytes(path.read_bytes() + gzip.compress(TEXT))
    source = Source(path)
    assert b"".join(source.blocks()) == TEXT + TEXT
    assert (source.kind, source.gzi) == ("gzip", [])


def test_a_bgzip_that_was_cut_between_blocks_is_refused(tmp_path: Path) -> None:
    whole = packed(TEXT, "bgzip", tmp_path / "whole.gz")
    source = Source(whole)
    assert b"".join(source.blocks()) == TEXT
    path = tmp_path / "cut.gz"
    for end, _ in (source.gzi[0], source.gzi[-1]):
        path.write_bytes(whole.read_bytes()[:end])
        with pytest.raises(SourceError, match="without its end marker"):
            read(path)


def test_damage_is_told_apart(tmp_path: Path) -> None:
    whole = gzip.compress(TEXT)
    path = tmp_path / "genome.gz"
    path.write_bytes(whole[:-8] + bytes(4) + whole[-4:])
    with pytest.raises(SourceError, match="its checksum does not match"):
        read(path)
    path.write_bytes(whole[:5000] + b"\xff" * 200 + whole[5200:])
    with pytest.raises(SourceError, match="is a damaged gzip file"):
        read(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        Source(tmp_path / "none.fa")
    with pytest.raises(SourceError, match="is not a file"):
        Source(tmp_path)
    (tmp_path / "empty.fa").touch()
    with pytest.raises(SourceError, match="is empty"):
        Source(tmp_path / "empty.fa")
