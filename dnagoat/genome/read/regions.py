"""Which bases do chosen intervals hold: an index is written in one pass, then each interval is read through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from dnagoat.errors import OptionError, SourceError
from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import OverlapRule, Place, find_place
from dnagoat.genome.read.bed import Bed, Stretch, locate_whole, read_bed
from dnagoat.genome.read.fasta import Fasta
from dnagoat.genome.read.records import Bases, GapRule, Header, bases_of
from dnagoat.genome.read.scan import FastaScan
from dnagoat.genome.read.source import Source
from dnagoat.genome.read.twobit import TwoBit

_PIECE: Final = 1 << 20  # bases at a time


class RegionScan:
    """The intervals of a BED file as records, named NAME_START_END; `scratch` is a folder for what is unpacked.

    `notes` say, after the last event, how names were read.
    """

    def __init__(self, source: Source, bed: Path, gaps: GapRule, scratch: Path, overlaps: OverlapRule) -> None:
        if gaps != "refuse":
            raise OptionError("--gaps drop does not go with --regions: positions would no longer be those of the file")
        self.source = source
        self.uneven: list[str] = []
        self.notes: list[str] = []
        self._bed = read_bed(bed)
        self._overlaps = overlaps
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
        """Reads the whole source once, for its index; a gzip that is no bgzip, or a stream, is unpacked on the way."""
        unpacked = self._scratch / "unpacked.fa" if self.source.kind == "gzip" or self.source.streamed else None
        scan = FastaScan(self.source, copy=unpacked)
        for event in scan.events():
            if isinstance(event, Bases):
                self._share = scan.share() / 2
        scan.write_index(self._scratch)
        self.uneven = scan.uneven
        return unpacked

    def _cut(self, lengths: dict[str, int], read: Callable[[str, int, int], Bases]) -> Iterator[Header | Bases]:
        stretches = self._stretches(lengths)
        total = sum(stretch.end - stretch.start for stretch in stretches)
        done = 0
        for contig, start, end, *_ in stretches:
            begin, _ = contig.to_home(start, end)
            place = Place(contig.home, begin, contig.strand)
            yield Header(f"{contig.name}_{start}_{end}", f"{contig.name}:{start + 1}-{end}", place, contig.home_length)
            for first in range(start, end, _PIECE):
                last = min(first + _PIECE, end)
                done += last - first
                self._share = 0.5 + done / total / 2
                yield read(contig.name, first, last)

    def _stretches(self, lengths: dict[str, int]) -> list[Stretch]:
        for interval in self._bed.intervals:
            if interval.name in self.uneven:
                raise SourceError(
                    f"{self._bed.where(interval)}: the lines of {interval.name} in {self.source} are uneven, so "
                    "that no base can be looked up; wrap them evenly (`seqkit seq -w 60`)"
                )
        contigs = [_contig(name, length) for name, length in lengths.items()]
        located = locate_whole(self._bed, contigs, str(self.source))
        if self._overlaps == "refuse":
            _refuse_shared(self._bed, located.stretches)
        self.notes = located.notes
        return located.stretches

    def share(self) -> float:
        return self._share

    def write_index(self, folder: Path) -> None:
        """It was written before the intervals were read."""


def _contig(name: str, length: int) -> Contig:
    place = find_place(name, length)
    return Contig(name=name, offset=0, length=length, **({} if place is None else place._asdict()))


def _refuse_shared(bed: Bed, stretches: list[Stretch]) -> None:
    """A `SourceError` where two intervals share a base: it would be in the dataset twice."""
    spans = [(stretch.contig.home, *stretch.contig.to_home(stretch.start, stretch.end)) for stretch in stretches]
    order = sorted(range(len(spans)), key=spans.__getitem__)
    for left, right in pairwise(order):
        if spans[left][0] == spans[right][0] and spans[right][1] < spans[left][2]:
            first, second = sorted((stretches[left].interval.line, stretches[right].interval.line))
            raise SourceError(
                f"{bed.name}: lines {first:,} and {second:,} share bases of {spans[left][0]}; merge them "
                "(`bedtools merge`)"
            )
