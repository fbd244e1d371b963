"""2bit files: every base, N and mask; damage is told."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import decode
from dnagoat.genome.read.records import Bases, Header
from dnagoat.genome.read.source import Source
from dnagoat.genome.read.twobit import TwoBit, TwoBitScan


def runs(flags: list[bool]) -> list[tuple[int, int]]:
    """(start, size) of each stretch of true flags."""
    edges = np.flatnonzero(np.diff([False, *flags, False]))
    return [(int(start), int(end - start)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def twobit(records: dict[str, str]) -> bytes:
    """A 2bit file as https://genome.ucsc.edu/FAQ/FAQformat.html#format7 describes it, little-endian."""
    parts = []
    for bases in records.values():
        part = struct.pack("<I", len(bases))
        for flags in ([base in "Nn" for base in bases], [base.islower() for base in bases]):
            blocks = runs(flags)
            part += struct.pack(f"<I{2 * len(blocks)}I", len(blocks), *(b[0] for b in blocks), *(b[1] for b in blocks))
        packed = bytearray((len(bases) + 3) // 4)
        for place, base in enumerate(bases.upper()):
            packed[place // 4] |= "TCAG".find(base.replace("N", "T")) << (6 - 2 * (place % 4))
        parts.append(part + struct.pack("<I", 0) + bytes(packed))
    at = 16 + sum(5 + len(name) for name in records)
    index = b""
    for name, part in zip(records, parts, strict=True):
        index += bytes([len(name)]) + name.encode() + struct.pack("<I", at)
        at += len(part)
    return struct.pack("<4I", 0x1A412743, 0, len(records), 0) + index + b"".join(parts)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twobit") / "genome"


RECORDS = st.dictionaries(st.text("abcXYZ09_.", min_size=1, max_size=8), st.text("ACGTNacgtn", min_size=1), min_size=1)


@settings(deadline=None)
@given(RECORDS, st.data())
def test_every_base_and_mask(file: Path, records: dict[str, str], data: st.DataObject) -> None:
    file.write_bytes(twobit(records))
    got: dict[str, str] = {}
    source = Source(file)
    for event in TwoBitScan(source).events():
        if isinstance(event, Header):
            name = event.name
            got[name] = ""
        else:
            assert isinstance(event, Bases)
            got[name] += decode(event.tokens, case=True)
    assert (source.kind, got) == ("2bit", records)
    reader = TwoBit(file)
    name = data.draw(st.sampled_from(sorted(records)))
    start = data.draw(st.integers(0, len(records[name]) - 1))
    end = data.draw(st.integers(start + 1, len(records[name])))
    assert decode(reader.tokens(name, start, end), case=True) == records[name][start:end]
    reader.close()


def test_damage_is_one_sentence(file: Path) -> None:
    whole = twobit({"a": "ACGTNNNNacgtnnnn" * 4, "b": "ACGT" * 9})
    for length in range(4, len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(SourceError, match="2bit file"):
            TwoBit(file)
    file.write_bytes(whole[::-1][-4:] + whole[4:])
    with pytest.raises(SourceError, match="big-endian"):
        TwoBit(file)
    file.write_bytes(twobit({"a": "ACGT"}).replace(b"\x01a", b"\x01\x1b"))
    with pytest.raises(SourceError, match="a record has no readable name"):
        TwoBit(file)
