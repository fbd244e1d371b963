"""Where does a base of a FASTA record lie in its file: the line structure, as `samtools faidx` indexes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Lines:
    """The line structure of one record: where its first base lies, bases and bytes a line; `even` while it is regular.

    pyfaidx computes a base's place from these, so a record with uneven lines has no entry in the index.
    """

    name: str
    offset: int
    length: int = 0
    bases: int = 0
    width: int = 0
    even: bool = True
    _full: int = 0  # lines of full width so far
    _tail: int = 0  # bytes of the shorter line that came last, without its end
    _open: int = 0  # bytes of the line that has not ended yet
    _ended: bool = False  # a shorter line came: only blank ones may follow

    def add(self, piece: bytes, ends: NDArray[np.int64], letters: int) -> None:
        """Counts a piece of the record's text that holds `letters` bases; `ends` are those of its lines."""
        self.length += letters
        if not self.even:
            return
        if not ends.size:
            self._open += len(piece)
            return
        widths = np.diff(ends, prepend=-1 - self._open)
        self._open = len(piece) - 1 - int(ends[-1])
        if not self.width:
            end = int(ends[0])
            self.width = int(widths[0])
            self.bases = self.width - (2 if piece[max(end - 1, 0) : end + 1] == b"\r\n" else 1)
        self._check(widths)

    def _check(self, widths: NDArray[np.int64]) -> None:
        blank = self.width - self.bases
        if not self._ended:
            other = np.flatnonzero(widths != self.width)
            full = int(other[0]) if other.size else len(widths)
            self._full += full
            if not other.size:
                return
            self._ended = True
            self._tail = int(widths[full]) - blank
            self.even = self._tail < self.bases
            widths = widths[full + 1 :]
        self.even &= bool((widths == blank).all())

    def close(self) -> None:
        """The record is over: its letters must be where the line structure says they are."""
        if not self.length:
            self.bases, self.width, self.even = 0, 0, True
        elif not self.width:
            self.bases = self.width = self._open
            self.even &= self._open == self.length
        else:
            self.even &= not (self._open and self._ended) and self._open <= self.bases
            self.even &= self.length == self._full * self.bases + self._tail + self._open


@dataclass(frozen=True)
class Entry:
    """A record of the index: name, bases, byte offset of the first, bases a line, bytes a line."""

    name: str
    length: int
    offset: int
    line_bases: int
    line_width: int


def line_ends(piece: bytes) -> NDArray[np.int64]:
    """Positions of the bytes that end a line: LF, or CR without LF after it."""
    letters = np.frombuffer(piece, dtype=np.uint8)
    ends = letters == 10
    if b"\r" in piece:
        lone = letters == 13
        lone[:-1] &= letters[1:] != 10
        ends |= lone
    return np.flatnonzero(ends)
