"""Which bases of a dataset a BED file marks, whether it names the dataset's contigs or the assembly's chromosomes.

BED is 0-based and half-open, as everything here. A contig that is itself a piece of a chromosome is found under both
names; `chr7` and `7` are the same chromosome.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import SourceError
from dnagoat.files import hash_file
from dnagoat.genome.dataset import Contig, Dataset
from dnagoat.genome.read.bed import interval_lines
from dnagoat.genome.read.source import Source, refuse_other

Ints = NDArray[np.int64]


def home(contig: Contig) -> tuple[str, int]:
    """The sequence of the source assembly that a contig lies on, and where on it the contig begins."""
    return contig.chromosome or contig.name, contig.start or 0


def identity(path: Path) -> dict[str, str]:
    """What a BED file is called and what is in it: an edited one is another, a moved one is not."""
    return {"name": path.name, "sha256": hash_file(Source(path).path)}  # a `Source` says in a sentence what is amiss


class Marks:
    """Absolute intervals of a dataset, merged and sorted."""

    def __init__(self, starts: Ints, ends: Ints) -> None:
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], np.maximum.accumulate(ends[order])
        fresh = np.concatenate([[True], starts[1:] > ends[:-1]])
        self.starts = starts[fresh]
        self.ends = ends[np.concatenate([fresh[1:], [True]])]

    def hold(self, positions: Ints) -> NDArray[np.bool_]:
        """Whether each absolute position is marked."""
        place = np.searchsorted(self.starts, positions, side="right") - 1
        return np.asarray((place >= 0) & (positions < self.ends[np.maximum(place, 0)]))


def read_bed(path: Path, dataset: Dataset) -> Marks:
    """The bases of the dataset that a BED file (plain or gzip) marks; lines about other sequences are passed over.

    Raises a `SourceError` for a file that is no BED, or that marks no base of the dataset.
    """
    names: dict[str, list[tuple[Contig, int]]] = defaultdict(list)
    for contig in dataset.contigs:
        whole, begin = home(contig)
        for name, shift in {(contig.name, 0), (whole, begin)}:
            names[_bare(name)].append((contig, shift))
    starts, ends = [], []
    for name, start, end in _lines(path):
        for contig, shift in names.get(_bare(name), ()):
            first, last = max(start - shift, 0), min(end - shift, contig.length)
            if first < last:
                starts.append(contig.offset + first)
                ends.append(contig.offset + last)
    if not starts:
        some = ", ".join(home(contig)[0] for contig in dataset.contigs[:3])
        raise SourceError(f"{path} marks no base of {dataset.path}, which holds {some} …; are the names the same?")
    return Marks(np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))


def _bare(name: str) -> str:
    return name.removeprefix("chr")


def _lines(path: Path) -> Iterator[tuple[str, int, int]]:
    content = b"".join(Source(path).blocks())
    refuse_other(path, content)
    for number, fields in interval_lines(content.decode("utf-8", "replace")):
        try:
            name, start, end = fields[0], int(fields[1]), int(fields[2])
        except (IndexError, ValueError):
            raise SourceError(f"{path}, line {number} is not BED: it needs a sequence, a start and an end") from None
        if not 0 <= start <= end:
            raise SourceError(f"{path}, line {number}: {start}-{end} is no stretch; BED starts at 0 and ends after it")
        yield name, start, end
