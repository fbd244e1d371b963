"""2bit files: every base, N and mask; damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import decode
from dnagoat.genome.read.records import Bases, Header
from dnagoat.genome.read.source import Source
from dnagoat.genome.read.twobit import TwoBit, TwoBitScan
from tests.genome.small import twobit


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twobit") / "genome"


RECORDS = st.dictionaries(st.text("abcXYZ09_.", min_size=1, max_size=8), st.text("ACGTNacgtn", min_size=1), min_size=1)


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
