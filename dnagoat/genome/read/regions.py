"""Which bases do chosen intervals hold: an index is written in one pass, then each interval is read through it.

Of the BED file only name, start and end are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from dnagoat.errors import OptionError, SourceError
from dnagoat.genome.read.bed import interval_lines
from dnagoat.genome.read.fasta import Fasta
from dnagoat.genome.read.records import Bases, GapRule, Header, bases_of
from dnagoat.genome.read.scan import FastaScan
from dnagoat.genome.read.source import Source
from dnagoat.genome.read.twobit import TwoBit

_PIECE: Final = 1 << 20  # bases at a time


class Region(NamedTuple):
    """[start, end) of a record, and the line of the BED file that says so."""

    name: str
    start: int
    end: int
    line: int


def read_bed(path: Path) -> list[Region]:
    """The intervals of a BED file in its order; two that share a base are refused: it would be there twice."""
    regions = []
    text = b"".join(Source(path).blocks()).decode("utf-8", errors="replace")
    for number, fields in interval_lines(text):
        where = f"{path}, line {number:,}"
        if len(fields) < 3 or not (fields[1].strip().isdigit() and fields[2].strip().isdigit()):
            raise SourceError(f"{where}: not a BED interval (name, start, end)")
        region = Region(fields[0], int(fields[1]), int(fields[2]), number)
        if region.start >= region.end:
            raise SourceError(f"{where}: the interval ends before it begins")
        regions.append(region)
    if not regions:
        raise SourceError(f"{path} holds no interval")
    for left, right in pairwise(sorted(regions)):
        if left.name == right.name and right.start < left.end:
            raise SourceError(
                f"{path}: lines {left.line:,} and {right.line:,} share bases of {left.name}; merge them "
                "(`bedtools merge`)"
            )
    return regions


class RegionScan:
    """The intervals of a BED file as records, named NAME_START_END; `scratch` is a folder for what is unpacked."""

    def __init__(self, source: Source, bed: Path, gaps: GapRule, scratch: Path) -> None:
        if gaps != "refuse":
            raise OptionError("--gaps drop does not go with --regions: positions would no longer be those of the file")
        self.source = source
        self.uneven: list[str] = []
        self._bed = bed
        self._regions = read_bed(bed)
        self._scratch = scratch
        self._share = 0.0

    def events(self) -> Iterator[Header | Bases]:
        if self.source.kind == "2bit":
            for _ in self.source.blocks():  # for the file's hash
                pass
            twobit = TwoBit(self.source.path)
            try:
                yield from self._cut(twobit.lengths, lambda *at: Bases(twobit.tokens(*at)))
            finally:
                twobit.close()
            return
        unpacked = self._index()
        try:
            with Fasta(unpacked or self.source.path, "plain" if unpacked else self.source.kind, self._scratch) as fasta:
                yield from self._cut(fasta.lengths, lambda *at: bases_of(fasta.region(*at).encode("ascii")))
        finally:
            if unpacked:
                unpacked.unlink()

    def _index(self) -> Path | None:
        """Reads the whole source once, for its index; a gzip that is no bgzip is unpacked on the way."""
        unpacked = self._scratch / "unpacked.fa" if self.source.kind == "gzip" else None
        scan = FastaScan(self.source, copy=unpacked)
        for event in scan.events():
            if isinstance(event, Bases):
                self._share = scan.share() / 2
        scan.write_index(self._scratch)
        self.uneven = scan.uneven
        return unpacked

    def _cut(self, lengths: dict[str, int], read: Callable[[str, int, int], Bases]) -> Iterator[Header | Bases]:
        for region in self._regions:
            self._check(region, lengths)
        total = sum(region.end - region.start for region in self._regions)
        done = 0
        for name, start, end, _ in self._regions:
            yield Header(f"{name}_{start}_{end}", f"{name}:{start + 1}-{end}")
            for first in range(start, end, _PIECE):
                last = min(first + _PIECE, end)
                done += last - first
                self._share = 0.5 + done / total / 2
                yield read(name, first, last)

    def _check(self, region: Region, lengths: dict[str, int]) -> None:
        where = f"{self._bed}, line {region.line:,}"
        if region.name in self.uneven:
            raise SourceError(
                f"{where}: the lines of {region.name} in {self.source.path} are uneven, so that no base can be looked "
                "up; wrap them evenly (`seqkit seq -w 60`)"
            )
        if region.name not in lengths:
            raise SourceError(f"{where}: {self.source.path} has no record {region.name}")
        if region.end > lengths[region.name]:
            raise SourceError(f"{where}: {region.name} ends at {lengths[region.name]:,}, before {region.end:,}")

    def share(self) -> float:
        return self._share

    def write_index(self, folder: Path) -> None:
        """It was written before the intervals were read."""
