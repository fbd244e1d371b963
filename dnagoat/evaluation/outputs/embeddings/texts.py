"""What is embedded: regions of a genome, windows of a split, sequences of a file; each with the row that names it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from dnagoat.errors import OptionError, WindowError
from dnagoat.evaluation.outputs.readings import Reading, codes_of
from dnagoat.evaluation.outputs.rows import Cell
from dnagoat.genome.alphabet import CODE, Codes, encode, reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.read.bed import Bed, Stretch, locate_whole, read_bed
from dnagoat.genome.read.genome import Genome, open_genome
from dnagoat.genome.read.in_order import read_records
from dnagoat.genome.windows import SPLITS, Split
from dnagoat.progress import Progress, silent
from dnagoat.streams import refuse_two_readers
from dnagoat.training.kept.run import Run

PLACE: Final[dict[str, type]] = {"sequence": str, "start": int, "end": int, "name": str, "strand": str}


@dataclass(frozen=True)
class Text:
    """`length` bases whose cells of `PLACE` are `row`; its own strand is the + one, or the other where `turned`.

    `read(turned, start, end, room)` gives codes of [start, end) counted along a strand, and of `room` bases before;
    there are `rooms` of these before the + strand and before the other.
    """

    row: tuple[Cell, ...]
    length: int
    read: Callable[[bool, int, int, int], Codes]
    rooms: tuple[int, int] = (0, 0)
    turned: bool = False


def of_codes(row: tuple[Cell, ...], codes: Codes) -> Text:
    """Bases with nothing around them."""

    def read(turned: bool, start: int, end: int, room: int) -> Codes:
        if turned:
            return reverse_complement(codes[len(codes) - end : len(codes) - start + room])
        return codes[start - room : end]

    return Text(row, len(codes), read)


Opened = tuple[Iterable[Text], int]  # texts, and how many there are, 0 where nobody knows
Say = Callable[[str], None]


class Regions(NamedTuple):
    """The intervals of a BED file, which must lie in a genome, with the genome around them."""

    bed: Path
    genome: Path

    @contextmanager
    def open(self, say: Say, progress: Progress = silent) -> Iterator[Opened]:
        bed = read_bed(self.bed)
        with open_genome(self.genome, progress) as genome:
            located = locate_whole(bed, genome.contigs(), str(genome.source))
            for note in located.notes:
                say(note)
            yield (_region(bed, genome, stretch) for stretch in located.stretches), len(located.stretches)


def _region(bed: Bed, genome: Genome, stretch: Stretch) -> Text:
    interval = stretch.interval

    def read(turned: bool, start: int, end: int, room: int) -> Codes:
        return codes_of(genome, stretch, Reading(0, turned, start, end, room))

    return Text(
        (interval.name, interval.start, interval.end, interval.label or ".", interval.strand or "."),
        stretch.end - stretch.start,
        read,
        (stretch.start, stretch.contig.length - stretch.end),
        turned=bed.strand_of(interval) != stretch.plus,
    )


class Windows(NamedTuple):
    """The windows of a split in genome order, `most` of them spread over it or all; each read by itself."""

    dataset: Dataset
    split: Split
    most: int | None = None

    @contextmanager
    def open(self, say: Say, progress: Progress = silent) -> Iterator[Opened]:
        starts = self.dataset.starts(self.split)
        if not len(starts):
            raise WindowError(
                f"{self.dataset.path} has no window in the split {self.split}; prepare it with contigs of it, or "
                "smaller windows"
            )
        if self.most is not None and self.most < len(starts):
            starts = starts[np.linspace(0, len(starts) - 1, self.most).round().astype(np.int64)]
        yield map(self._text, starts.tolist()), len(starts)

    def _text(self, at: int) -> Text:
        contig, place = self.dataset.locate(at)
        start, end = contig.to_home(place, place + self.dataset.window)
        codes = self.dataset.tokens[at : at + self.dataset.window] & np.uint8(CODE)
        return of_codes((contig.home, start, end, contig.name, contig.strand), codes)


class Sequences(NamedTuple):
    """The records of a FASTA or 2bit file, or of a stream, in order; or texts by their names."""

    source: Path | Mapping[str, str]

    @contextmanager
    def open(self, say: Say, progress: Progress = silent) -> Iterator[Opened]:
        if isinstance(self.source, Path):
            yield (_record(*named) for named in read_records(self.source)), 0
        else:
            coded = {name: encode(text) for name, text in self.source.items()}
            yield (_record(*named) for named in coded.items()), len(coded)


def _record(name: str, codes: Codes) -> Text:
    return of_codes((name, 0, len(codes), ".", "+"), codes)


Source = Regions | Windows | Sequences


def source_of(
    run: Run,
    *,
    regions: Path | str | None,
    genome: Path | str | None,
    split: Split | None,
    windows: int | None,
    sequences: Path | Mapping[str, str] | None,
    dataset: Path | str | None,
) -> Source:
    """The one source that is given; an `OptionError` where there are none or two, or a part of one is missing."""
    given = [
        name for name, value in (("regions", regions), ("split", split), ("fasta", sequences)) if value is not None
    ]
    if len(given) != 1:
        said = f"{' and '.join(f'--{name}' for name in given)} are" if given else "no source is"
        raise OptionError(f"{said} given; give one of --regions (with --genome), --split and --fasta")
    if (regions is None) != (genome is None):
        raise OptionError("--regions are intervals of --genome; give both")
    if windows is not None and split is None:
        raise OptionError("--windows counts windows of a split; give --split too")
    if regions is not None and genome is not None:
        refuse_two_readers(("--regions", Path(regions)), ("--genome", Path(genome)))
        return Regions(Path(regions), Path(genome))
    if sequences is not None:
        return Sequences(sequences)
    if split not in SPLITS:
        raise OptionError(f"--split {split}: there are {', '.join(SPLITS)}")
    return Windows(run.dataset(None if dataset is None else Path(dataset)), split, windows)
