"""Which letters does any region of a genome hold? One pass indexes it, where its format has no index of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from dnagoat.errors import SourceError
from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import find_place
from dnagoat.genome.read.fasta import Fasta
from dnagoat.genome.read.genome_formats import Format
from dnagoat.genome.read.records import Bases, ByPlace
from dnagoat.genome.read.scan import FastaScan
from dnagoat.genome.read.source import Source
from dnagoat.progress import Progress, silent


def _unwatched(share: float) -> None:
    """Nobody asks how far it is."""


class Genome:
    """A source whose records are read by their place; `scratch` is a folder for the index and for what is unpacked.

    `lengths` maps record names, in the order of the file, to bases. Records of `uneven` lines are not there, since no
    base of them can be looked up. `watch` hears which share of the source has been read, 0 to 1.
    """

    def __init__(self, source: Source, scratch: Path, watch: Callable[[float], None] = _unwatched) -> None:
        self.source = source
        self.uneven: list[str] = []
        self._unpacked: Path | None = None
        self._reader = self._fasta(scratch, watch) if source.format is None else self._indexed(source.format)
        self.lengths: dict[str, int] = self._reader.lengths

    def _indexed(self, form: Format) -> ByPlace:
        for _ in self.source.blocks():  # for the file's hash
            pass
        return form.look_up(self.source.path)

    def _fasta(self, scratch: Path, watch: Callable[[float], None]) -> ByPlace:
        """Reads the whole source once, for its index; a gzip that is no bgzip, or a stream, is unpacked on the way."""
        source = self.source
        unpacked = scratch / "unpacked.fa" if source.kind == "gzip" or source.streamed else None
        scan = FastaScan(source, copy=unpacked)
        for event in scan.events():
            if isinstance(event, Bases):
                watch(scan.share())
        scan.write_index(scratch)
        self.uneven, self._unpacked = scan.uneven, unpacked
        return Fasta(unpacked or source.path, "plain" if unpacked else source.kind, scratch)

    def bases(self, name: str, start: int, end: int) -> Bases:
        """The bases [start, end) of a record, 0-based."""
        return self._reader.bases(name, start, end)

    def contigs(self) -> list[Contig]:
        """The records as contigs; where a piece of a chromosome lies is known if its name says."""
        return [_contig(name, length) for name, length in self.lengths.items()]

    def refuse_uneven(self, name: str, asker: str) -> None:
        """A `SourceError` where a record of that name is there, but not to be looked up."""
        if name in self.uneven:
            raise SourceError(
                f"{asker}: the lines of {name} in {self.source} are uneven, so that no base can be looked up; "
                "wrap them evenly (`seqkit seq -w 60`)"
            )

    def close(self) -> None:
        self._reader.close()
        if self._unpacked:
            self._unpacked.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def open_genome(path: Path, progress: Progress = silent) -> Iterator[Genome]:
    """A genome file or stream whose index lies in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="dnagoat-") as scratch,
        Genome(Source(path), Path(scratch), partial(_tell, progress)) as genome,
    ):
        yield genome


def _tell(progress: Progress, share: float) -> None:
    progress("reading the genome", round(100 * share), 100)


def _contig(name: str, length: int) -> Contig:
    place = find_place(name, length)
    return Contig(name=name, offset=0, length=length, **({} if place is None else place._asdict()))
