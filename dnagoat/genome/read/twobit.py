"""Which records does a 2bit file hold? Read by py2bit; its N blocks and mask blocks are kept.

Format: https://genome.ucsc.edu/FAQ/FAQformat.html#format7. It stores A, C, G, T and N alone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from dnagoat.errors import SourceError
from dnagoat.files import plain_name
from dnagoat.genome.alphabet import CODE, MASKED, TABLE, Codes
from dnagoat.genome.read.records import Bases, Header
from dnagoat.genome.read.source import Source

_LITTLE: Final = b"\x43\x27\x41\x1a"
_PIECE: Final = 1 << 22  # bases at a time


class TwoBit:
    """A 2bit file: record names with lengths, and the tokens of any region."""

    def __init__(self, path: Path) -> None:
        import py2bit

        self.path = path
        _check(path)
        try:
            with plain_name(path) as name:
                self._reader = py2bit.open(name, True)
            self.lengths: dict[str, int] = self._reader.chroms()
        except RuntimeError:
            raise self._damaged() from None

    def tokens(self, name: str, start: int, end: int) -> Codes:
        """Tokens (end - start,) of [start, end) of a record."""
        try:
            letters = self._reader.sequence(name, start, end).encode("ascii")
            masks = self._reader.softMaskedBlocks(name, start, end)
        except RuntimeError:
            raise self._damaged() from None
        if len(letters) != end - start:
            raise self._damaged()
        tokens = np.frombuffer(letters.translate(TABLE), dtype=np.uint8) & np.uint8(CODE)
        # The mask comes from its blocks: in the letters py2bit writes every N in upper case.
        edges = np.zeros(end - start + 1, dtype=np.int8)
        for first, last in masks:
            edges[max(first - start, 0)] += 1
            edges[min(last, end) - start] -= 1
        return tokens | np.where(np.cumsum(edges[:-1], dtype=np.int8) > 0, np.uint8(MASKED), np.uint8(0))

    def bases(self, name: str, start: int, end: int) -> Bases:
        return Bases(self.tokens(name, start, end))

    def close(self) -> None:
        self._reader.close()

    def _damaged(self) -> SourceError:
        return SourceError(f"{self.path} is a damaged 2bit file; fetch it again")


class TwoBitScan:
    """One pass over a 2bit file, records in the order of the file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.uneven: list[str] = []
        self._done = 0
        self._total = 1

    def events(self) -> Iterator[Header | Bases]:
        for _ in self.source.blocks():  # for the file's hash; py2bit reads the sequence by itself
            pass
        file = TwoBit(self.source.path)
        try:
            self._total = max(sum(file.lengths.values()), 1)
            for name, length in file.lengths.items():
                yield Header(name, "")
                for start in range(0, length, _PIECE):
                    end = min(start + _PIECE, length)
                    self._done += end - start
                    yield Bases(file.tokens(name, start, end))
        finally:
            file.close()

    def share(self) -> float:
        return self._done / self._total

    def write_index(self, folder: Path) -> None:
        """A 2bit file has its index within."""


def _check(path: Path) -> None:
    """A `SourceError` where the file is cut short or not as the format says: the C reader trusts what it reads."""
    size = path.stat().st_size
    with path.open("rb") as handle:

        def read(form: str) -> tuple[Any, ...]:
            data = handle.read(struct.calcsize("<" + form))
            if len(data) < struct.calcsize("<" + form):
                raise SourceError(f"{path} is a 2bit file that was cut short; fetch it again")
            return struct.unpack("<" + form, data)

        magic, version, count, _ = read("4s3I")
        if magic != _LITTLE:
            raise SourceError(f"{path} is a big-endian 2bit file; convert it with `twoBitToFa`")
        if version != 0:
            raise SourceError(f"{path} is a 2bit file of version {version}; version 0 is read")
        places: dict[str, int] = {}
        for _ in range(count):
            (length,) = read("B")
            name = read(f"{length}s")[0].decode("utf-8", "replace")
            if not name or not name.isprintable() or "\ufffd" in name:
                raise SourceError(f"{path} is a damaged 2bit file: a record has no readable name")
            if name in places:
                raise SourceError(f"{path}: a second record is named {name}; names must differ")
            places[name] = read("I")[0]
        if not places:
            raise SourceError(f"{path} is a 2bit file without a record")
        for name, place in places.items():
            handle.seek(place)
            (bases,) = read("I")
            for _ in ("N", "mask"):
                (blocks,) = read("I")
                if blocks > bases or handle.tell() + 8 * blocks > size:
                    raise SourceError(f"{path} is a damaged 2bit file: the blocks of {name} run past its end")
                data = np.frombuffer(handle.read(8 * blocks), dtype="<u4").astype(np.int64).reshape(2, -1)
                if blocks and (data.sum(axis=0).max() > bases or (np.diff(data[0]) < data[1][:-1]).any()):
                    raise SourceError(f"{path} is a damaged 2bit file: the blocks of {name} do not fit its length")
            if handle.tell() + 4 + (bases + 3) // 4 > size:
                raise SourceError(f"{path} is a 2bit file that was cut short; fetch it again")
