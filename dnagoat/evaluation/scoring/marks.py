"""Which bases of a dataset do the intervals of a BED file mark?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.read.bed import locate, read_bed, unknown_names
from dnagoat.wording import counted


class Marks:
    """Absolute intervals of a dataset, merged and sorted; `notes` say how names were read, and what lies elsewhere."""

    def __init__(self, starts: Ints, ends: Ints, title: str = "", notes: tuple[str, ...] = ()) -> None:
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        fresh = np.concatenate([[True], starts[1:] > ends[:-1]])
        self.starts = starts[fresh]
        self.ends = ends[np.concatenate([fresh[1:], [True]])]
        self.title, self.notes = title, notes

    def hold(self, positions: Ints) -> NDArray[np.bool_]:
        """Whether each absolute position is marked."""
        place = np.searchsorted(self.starts, positions, side="right") - 1
        return np.asarray((place >= 0) & (positions < self.ends[np.maximum(place, 0)]))


def read_marks(path: Path, dataset: Dataset) -> Marks:
    """The bases of the dataset that a BED file marks; what it says of other sequences is counted in the notes.

    Raises a `SourceError` for a file that is no BED, is of another assembly, or marks no base of the dataset.
    """
    bed = read_bed(path)
    located = locate(bed, dataset.contigs, str(dataset.path))
    if not located.stretches:
        some = ", ".join(dict.fromkeys(contig.home for contig in dataset.contigs[:3]))
        raise SourceError(f"{bed.name} marks no base of {dataset.path}, which holds {some} …; are the names the same?")
    notes = list(located.notes)
    if unknown := unknown_names(located, "the dataset"):
        notes.append(unknown)
    if located.outside:
        lines = f"{len(located.outside):,} of {counted(len(bed.intervals), 'line')}"
        notes.append(f"{bed.name}: {lines} with bases outside the pieces that the dataset holds")
    first = np.array([stretch.contig.offset + stretch.start for stretch in located.stretches], dtype=np.int64)
    last = np.array([stretch.contig.offset + stretch.end for stretch in located.stretches], dtype=np.int64)
    return Marks(first, last, bed.title, tuple(notes))
