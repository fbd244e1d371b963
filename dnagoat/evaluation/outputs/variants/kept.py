"""Scores of variants as they are found, a row an allele in the order of the file: what an interrupted run goes on from.

OUT.partial    a line of JSON that says what is scored and how, then rows of ROW, little-endian
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dnagoat.folders import only_writer
from dnagoat.wording import counted

ROW: Final = np.dtype([("forward", "<f8"), ("reverse", "<f8"), ("skipped", "u1")])
Rows = NDArray[np.void]


class Kept:
    """Rows on disk; `count` of them are there. A `note` says where a file that lay there is continued or not."""

    def __init__(self, path: Path, key: dict[str, Any], *, resume: bool) -> None:
        self.path, self.count, self.note = path, 0, ""
        self._head = json.dumps(key, sort_keys=True).encode() + b"\n"
        there = path.stat().st_size > 0
        same = there and self._same()
        if same and resume:
            self.count = (path.stat().st_size - len(self._head)) // ROW.itemsize
            self.note = f"{path} holds {counted(self.count, 'scored allele')}; goes on from there"
        elif there or resume:
            self.note = f"{self._why(there, same)}; starts anew"
        if not self.count:
            self._write("wb", self._head)

    def _same(self) -> bool:
        with self.path.open("rb") as handle:
            return handle.read(len(self._head)) == self._head

    def _why(self, there: bool, same: bool) -> str:
        if not there:
            return f"there is no {self.path} to go on from"
        if same:
            return f"{self.path} is of an interrupted run, which --resume would continue"
        return f"{self.path} is of other variants, another genome, model or setting"

    def cut(self, count: int) -> None:
        """Forgets all but the first `count` rows: a write that was cut short may end within a record."""
        with self.path.open("r+b") as handle:
            handle.truncate(len(self._head) + count * ROW.itemsize)
        self.count = count

    def append(self, rows: Rows) -> None:
        self._write("ab", rows.tobytes())
        self.count += len(rows)

    def _write(self, mode: Literal["wb", "ab"], content: bytes) -> None:
        try:
            with self.path.open(mode) as handle:
                handle.write(content)
        except OSError as fault:
            fault.filename = str(self.path)  # a full disk says none
            raise

    def rows(self) -> Rows:
        """All rows, mapped from disk."""
        if not self.count:
            return np.empty(0, dtype=ROW)
        return np.memmap(self.path, dtype=ROW, mode="r", offset=len(self._head), shape=(self.count,))


@contextmanager
def keep_rows(path: Path, key: dict[str, Any], *, resume: bool) -> Iterator[Kept]:
    """Holds the file for one process (`OptionError` where another has it); where no row was kept, it goes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    out = path.with_suffix("")
    with only_writer(path, f"another `dnagoat score variants` is writing {out}; wait for it, or give another name"):
        kept = None
        try:
            kept = Kept(path, key, resume=resume)
            yield kept
        finally:
            if kept is None or not kept.count:
                path.unlink(missing_ok=True)
