"""How is any region of a FASTA file read: by pyfaidx, through the index that our own pass wrote.

An index that lies beside the source is never read: it may be stale, or another file's.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from types import TracebackType
from typing import Self

import pyfaidx

from dnagoat.errors import SourceError
from dnagoat.genome.read.records import Bases, bases_of


class Fasta:
    """A plain or bgzip FASTA file, opened with genome.fai (and genome.gzi) of the folder `index`.

    `lengths` maps record names, in the order of the file, to bases; records with uneven lines are not there.
    """

    def __init__(self, source: Path, kind: str, index: Path) -> None:
        if kind not in ("plain", "bgzip"):
            raise SourceError(f"{source} is {kind}: regions need a plain or bgzip FASTA; repack it with `bgzip`")
        self.source = source
        # pyfaidx tells bgzip by the name alone, so the source gets a name that says what it is.
        self._names = tempfile.TemporaryDirectory(prefix="dnagoat-")
        named = Path(self._names.name) / ("genome.fa.gz" if kind == "bgzip" else "genome.fa")
        named.symlink_to(source.resolve())
        try:
            with warnings.catch_warnings():
                # The index was written from these bytes; that the file was touched since does not make it stale.
                warnings.simplefilter("ignore", RuntimeWarning)
                self._reader = pyfaidx.Fasta(
                    str(named),
                    indexname=str(index / "genome.fai"),
                    gzi_indexname=str(index / "genome.gzi"),
                    as_raw=True,
                    build_index=False,
                    rebuild=False,
                )
        except BaseException:
            self._names.cleanup()
            raise
        self.lengths: dict[str, int] = {name: len(self._reader[name]) for name in self._reader.keys()}  # noqa: SIM118

    def region(self, name: str, start: int, end: int) -> str:
        """Letters [start, end) of a record, 0-based, as the file has them."""
        if name not in self.lengths:
            raise SourceError(f"{self.source} has no indexed record {name}")
        if not 0 <= start <= end <= self.lengths[name]:
            raise SourceError(f"{name}:{start:,}-{end:,} is outside the {self.lengths[name]:,} bases of {name}")
        if start == end:
            return ""
        try:
            return str(self._reader[name][start:end])
        except (ValueError, OSError, pyfaidx.FetchError) as fault:
            raise SourceError(f"{name}:{start:,}-{end:,} of {self.source} cannot be read: {fault}") from None

    def bases(self, name: str, start: int, end: int) -> Bases:
        return bases_of(self.region(name, start, end).encode("ascii"))

    def close(self) -> None:
        self._reader.close()
        self._names.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
