"""How likely are regions of any genome: log-probability of each interval of a BED file, both strands, and its tracks.

A region is read with what lies before it, so that each of its bases has context where the genome has any; the same
holds for its other strand, before which lies what comes after the region. `forward` is the strand that column 6 names.
"""

# n regions, R bases of a region

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.outputs import sequences
from dnagoat.evaluation.outputs.readings import Reading, codes_of, context_and_stride, hold, readings_of, span_of
from dnagoat.evaluation.outputs.rows import Cell
from dnagoat.evaluation.outputs.sequences import Record
from dnagoat.evaluation.outputs.tracks import Segment
from dnagoat.evaluation.scoring.likelihood import Floats, score
from dnagoat.evaluation.scoring.pieces import sliding
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.read.bed import Bed, Interval, Stretch, locate_whole
from dnagoat.genome.read.genome import Genome
from dnagoat.genome.read.region_scan import refuse_shared
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent

COLUMNS: dict[str, type] = {
    "sequence": str,
    "start": int,
    "end": int,
    "name": str,
    "strand": str,
    **{name: kind for name, kind in sequences.COLUMNS.items() if name != "name"},
}


@dataclass(frozen=True)
class Region:
    """An interval of a BED file and its scores; `record.forward` is of the interval's own strand, + without one."""

    interval: Interval
    record: Record

    def row(self) -> dict[str, Cell]:
        """Cells of `COLUMNS`; coordinates as the file has them, 0-based and half-open."""
        interval = self.interval
        place: dict[str, Cell] = {"sequence": interval.name, "start": interval.start, "end": interval.end}
        scores = {name: cell for name, cell in self.record.row().items() if name != "name"}
        return {**place, "name": interval.label or ".", "strand": interval.strand or ".", **scores}

    def bed(self) -> str:
        """A line of BED whose column 5 is the mean log-probability of a base in nats, both strands; . of none."""
        sequence, start, end, name, strand, *_ = self.row().values()
        mean = "." if not self.record.scored else f"{self.record.both / self.record.scored:.6f}"
        return f"{sequence}\t{start}\t{end}\t{name}\t{mean}\t{strand}\n"


def score_regions(
    model: DnaLM,
    bed: Bed,
    genome: Genome,
    batch_bases: int,
    context: int | None = None,
    stride: int | None = None,
    *,
    track: Callable[[Segment], None] | None = None,
    progress: Progress = silent,
    say: Callable[[str], None],
) -> list[Region]:
    """Scores the intervals of a BED file, which must lie in the genome; in the order of the file.

    A region is read in pieces of `context` bases (the training length) that move by `stride` (half of it): a base has
    context - stride bases before it, where they are there. `track` is given nats a base on the + strand, in the order
    of places; regions must then share no base (`SourceError`).
    """
    located = locate_whole(bed, genome.contigs(), str(genome.source))
    for note in located.notes:
        say(note)
    stretches = located.stretches
    if track is not None:
        refuse_shared(bed, stretches)
    context, stride = context_and_stride(model, context, stride)
    forward = [int(bed.strand_of(stretch.interval) != stretch.plus) for stretch in stretches]
    order = sorted(range(len(stretches)), key=lambda n: _home(stretches[n])) if track else range(len(stretches))
    readings = (reading for n in order for reading in readings_of(n, stretches[n], context, stride))
    totals = np.zeros((len(stretches), 2, 2))  # regions, strands of the contig, nats and bases
    done, bases = 0, 2 * sum(stretch.end - stretch.start for stretch in stretches)
    progress("scoring", done, bases)
    for held in hold(readings, lambda reading: reading.size):
        codes = [codes_of(genome, stretches[reading.region], reading) for reading in held]
        tell = partial(_tell, progress, done, sum(reading.size for reading in held), bases)
        losses = _losses(model, held, codes, context, stride, batch_bases, tell)
        for reading, nats in zip(held, losses, strict=True):
            stretch, strand = stretches[reading.region], int(reading.turned)
            totals[reading.region, strand] += np.nansum(nats, dtype=np.float64), np.isfinite(nats).sum()
            if track is not None and reading.turned == (stretch.contig.strand == "-"):
                for segment in _segments(stretch, reading, nats):
                    track(segment)
            done += len(nats)
        progress("scoring", done, bases)
    return [_region(*found) for found in zip(stretches, totals, forward, strict=True)]


def _tell(progress: Progress, done: int, size: int, bases: int, what: str, pieces: int, of: int) -> None:
    """How far a part of `size` bases is, by its pieces, said of all `bases`."""
    progress("scoring", done + size * pieces // max(of, 1), bases)


def _home(stretch: Stretch) -> tuple[str, int]:
    return stretch.contig.home, stretch.contig.to_home(stretch.start, stretch.end)[0]


def _losses(
    model: DnaLM,
    held: list[Reading],
    codes: list[Codes],
    context: int,
    stride: int,
    batch_bases: int,
    progress: Progress,
) -> list[Floats]:
    """Nats of each base (R,) of each reading, in its direction; NaN at an N."""
    ends = np.cumsum([len(read) for read in codes])
    regions = [(int(end) - (one.end - one.start), int(end)) for one, end in zip(held, ends, strict=True)]
    pieces = sliding(regions, context, stride, [one.room for one in held])
    losses = score(model, np.concatenate(codes), pieces, batch_bases, progress).losses
    return np.split(losses, np.cumsum([one.end - one.start for one in held])[:-1])


def _segments(stretch: Stretch, reading: Reading, nats: Floats) -> Iterator[Segment]:
    """The runs of scored bases of a reading that goes along the + strand of its chromosome."""
    begin, _ = stretch.contig.to_home(*span_of(stretch, reading))
    known = np.flatnonzero(np.isfinite(nats))
    for run in np.split(known, np.flatnonzero(np.diff(known) != 1) + 1):
        if run.size:
            yield Segment(stretch.contig.home, begin + int(run[0]), nats[run])


def _region(stretch: Stretch, totals: NDArray[np.float64], forward: int) -> Region:
    interval = stretch.interval
    (own, scored), (other, _) = totals[forward], totals[1 - forward]
    name = interval.label or f"{interval.name}:{interval.start}-{interval.end}"
    return Region(interval, Record(name, interval.end - interval.start, int(scored), 0.0 - own, 0.0 - other))
