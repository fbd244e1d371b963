"""Which bases do chosen intervals hold: an index is written in one pass, then each interval is read through it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from dnagoat.errors import OptionError, SourceError
from dnagoat.genome.place import OverlapRule, Place
from dnagoat.genome.read.bed import Bed, Stretch, locate_whole, read_bed
from dnagoat.genome.read.genome import Genome
from dnagoat.genome.read.records import Bases, GapRule, Header
from dnagoat.genome.read.source import Source

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
        with Genome(self.source, self._scratch, self._watch) as genome:
            self.uneven = genome.uneven
            yield from self._cut(genome)

    def _watch(self, share: float) -> None:
        self._share = share / 2

    def _cut(self, genome: Genome) -> Iterator[Header | Bases]:
        stretches = self._stretches(genome)
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
                yield genome.bases(contig.name, first, last)

    def _stretches(self, genome: Genome) -> list[Stretch]:
        for interval in self._bed.intervals:
            genome.refuse_uneven(interval.name, self._bed.where(interval))
        located = locate_whole(self._bed, genome.contigs(), str(self.source))
        if self._overlaps == "refuse":
            refuse_shared(self._bed, located.stretches)
        self.notes = located.notes
        return located.stretches

    def share(self) -> float:
        return self._share

    def write_index(self, folder: Path) -> None:
        """It was written before the intervals were read."""


def refuse_shared(bed: Bed, stretches: list[Stretch]) -> None:
    """A `SourceError` where two intervals share a base, which a dataset or a track can hold once."""
    spans = [(stretch.contig.home, *stretch.contig.to_home(stretch.start, stretch.end)) for stretch in stretches]
    order = sorted(range(len(spans)), key=spans.__getitem__)
    for left, right in pairwise(order):
        if spans[left][0] == spans[right][0] and spans[right][1] < spans[left][2]:
            first, second = sorted((stretches[left].interval.line, stretches[right].interval.line))
            raise SourceError(
                f"{bed.name}: lines {first:,} and {second:,} share bases of {spans[left][0]}; merge them "
                "(`bedtools merge`)"
            )
