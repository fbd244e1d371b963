"""Where along the genome a model is surprised: per-base NLL as bedGraph and bigWig, for IGV and the UCSC browser.

Coordinates are those of the source assembly: a contig that is a piece of a chromosome is written where it lies on it.
bedGraph is 0-based and half-open, as everything here; N and what was not scored has no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import DatasetError, MissingError
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.pieces import contig_index
from dnagoat.files import BYTES, may_write, plain_name, written_whole
from dnagoat.genome.dataset import Contig, Dataset
from dnagoat.genome.read.chrom_sizes import Sizes
from dnagoat.genome.windows import Split

LINES = 1 << 16  # bases written at once


@dataclass(frozen=True)
class Segment:
    """Values of consecutive bases of a sequence of the assembly, from `start` on."""

    sequence: str
    start: int
    values: NDArray[np.float32]


def segments(dataset: Dataset, scores: Scores) -> list[Segment]:
    """Runs of scored bases in the order that genome browsers want: by sequence, then by position."""
    positions = scores.pieces.positions()
    known = ~np.isnan(scores.losses)
    positions, losses = positions[known], scores.losses[known]
    contigs = contig_index(dataset, positions)
    cuts = np.flatnonzero((np.diff(positions) != 1) | (np.diff(contigs) != 0)) + 1
    found = []
    for at, values in zip(np.split(positions, cuts), np.split(losses, cuts), strict=True):
        if len(at):
            contig, place = dataset.locate(int(at[0]))
            begin, _ = contig.to_home(place, place + len(at))
            found.append(Segment(contig.home, begin, values if contig.strand == "+" else values[::-1]))
    found.sort(key=lambda segment: (segment.sequence, segment.start))
    _refuse_twice(dataset, [(run.sequence, run.start, run.start + len(run.values)) for run in found])
    return found


Write = Callable[[Segment], None]


@contextmanager
def open_bedgraph(path: Path, name: str) -> Iterator[Write]:
    """Yields what writes a segment: a line a base, under a `track` line that browsers take the name from."""
    with written_whole(path) as aside, aside.open("w", encoding="utf-8", errors=BYTES) as out:
        out.write(f'track type=bedGraph name="{name}" description="nats per base" visibility=full autoScale=on\n')

        def write(run: Segment) -> None:
            for first in range(0, len(run.values), LINES):
                out.write("".join(_lines(run, first)))

        yield write


def _lines(run: Segment, first: int) -> Iterator[str]:
    for place, value in enumerate(run.values[first : first + LINES].tolist(), start=run.start + first):
        yield f"{run.sequence}\t{place}\t{place + 1}\t{value:.4f}\n"


@contextmanager
def open_bigwig(path: Path, lengths: dict[str, int]) -> Iterator[Write]:
    """The same in the indexed binary form; `lengths` of the sequences in bases. Needs pyBigWig."""
    try:
        import pyBigWig
    except ImportError:
        raise MissingError("bigWig needs the package pyBigWig; install dnagoat[tracks], or use the bedGraph") from None
    with written_whole(path) as aside, plain_name(aside) as name:
        track = pyBigWig.open(name, "w")
        track.addHeader(sorted(lengths.items()))
        try:
            yield lambda run: track.addEntries(
                run.sequence, run.start, values=run.values.astype(np.float64), span=1, step=1
            )
        finally:
            track.close()


def refuse_shared_bases(dataset: Dataset, split: Split) -> None:
    """A `DatasetError` where a split holds a base of the assembly twice: a track has one value a base.

    Such a dataset was prepared before `prepare` refused it. To be asked before anything is scored.
    """
    spans = [
        (contig.home, *contig.to_home(start, end))
        for contig in dataset.contigs
        for start, end, of in contig.spans
        if of == split
    ]
    _refuse_twice(dataset, sorted(spans))


def _refuse_twice(dataset: Dataset, spans: list[tuple[str, int, int]]) -> None:
    for left, right in pairwise(spans):
        if left[0] == right[0] and right[1] < left[2]:
            place = f"{right[0][:80]} from {right[1]:,} to {min(left[2], right[2]):,}"
            raise DatasetError(
                f"two contigs of {dataset.path} hold {place}, and a track has one value a base; prepare the dataset "
                "again with `dnagoat prepare --overlaps trim`"
            )


class Tracks(NamedTuple):
    """The files that were written, and what is to be known of them."""

    paths: list[Path]
    notes: list[str]


@contextmanager
def open_tracks(
    folder: Path, name: str, contigs: Sequence[Contig], holder: str, sizes: Sizes = Sizes()
) -> Iterator[tuple[Write, Tracks]]:
    """NAME.bedGraph and, where pyBigWig is installed, NAME.bw in `folder`, which has what `holder` has: its contigs.

    Yields what writes a segment to both, in the order of sequences and places, and which files these are. bigWig files
    hold the lengths of sequences: what the contigs do not tell, `sizes` may. A `SourceError` where these do not fit.
    """
    lengths, unsure = sizes.of(contigs, holder)
    text, binary = folder / f"{name}.bedGraph", folder / f"{name}.bw"
    with ExitStack() as files:
        lines = files.enter_context(open_bedgraph(text, name))
        try:
            entries = files.enter_context(open_bigwig(binary, lengths))
        except MissingError:
            yield lines, Tracks([text], ["no bigWig, pyBigWig is not installed; `pip install 'dnagoat[tracks]'`"])
            return

        def write(run: Segment) -> None:
            lines(run)
            entries(run)

        some = ", ".join(f"{name[:40]} {lengths[name]:,}" for name in unsure[:3]) + (" …" if len(unsure) > 3 else "")
        note = (
            f"{holder} holds pieces of {some} and not the real length, so {binary.name} ends with the last piece; "
            "--chrom-sizes gives lengths"
        )
        yield write, Tracks([text, binary], [note] if unsure else [])


def may_write_tracks(folder: Path, name: str, *, force: bool) -> None:
    """An `OptionError` where one of the files is there: said before there is work to lose."""
    for file in (folder / f"{name}.bedGraph", folder / f"{name}.bw"):
        may_write(file, "--tracks", force=force)


def write_tracks(folder: Path, name: str, dataset: Dataset, scores: Scores, sizes: Sizes = Sizes()) -> Tracks:
    """The tracks of a dataset's scored bases."""
    runs = segments(dataset, scores)
    with open_tracks(folder, name, dataset.contigs, "the dataset", sizes) as (write, tracks):
        for run in runs:
            write(run)
    return tracks
