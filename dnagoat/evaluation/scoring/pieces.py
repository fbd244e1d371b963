"""Which bases are scored, with how much context, and to which block of the genome they belong.

A piece is a stretch that the model reads at once, [start, start + width); its first `skip` bases are context alone and
the rest are scored. Positions are absolute in the token store, 0-based, half-open. No piece scores or reads a base of
another split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError, WindowError
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Contig, Dataset
from dnagoat.genome.windows import Split

# n pieces, M scored bases of all pieces end to end


@dataclass(frozen=True)
class Pieces:
    """n pieces in genome order; each array is (n,)."""

    starts: Ints
    widths: Ints
    skips: Ints

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def lengths(self) -> Ints:
        """How many bases of each piece are scored (N among them, until it is known where they are)."""
        return self.widths - self.skips

    @property
    def offsets(self) -> Ints:
        """Where each piece's scored bases begin in an array of all of them, (n + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def positions(self) -> Ints:
        """The absolute position of each scored base, (M,)."""
        return self._of_bases(self.starts + self.skips)

    def contexts(self) -> Ints:
        """How many bases each scored base has before it in its piece, (M,)."""
        return self._of_bases(self.skips)

    def _of_bases(self, first: Ints) -> Ints:
        return np.arange(self.offsets[-1]) + np.repeat(first - self.offsets[:-1], self.lengths)

    def mean_context(self) -> float:
        """Bases before a scored base, on average."""
        return float(((self.skips + self.widths - 1) / 2 * self.lengths).sum() / self.lengths.sum())

    def short(self, least: int) -> int:
        """How many scored bases have fewer than `least` before them."""
        return int(np.clip(least - self.skips, 0, self.lengths).sum())

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Pieces:
        return Pieces(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def spread(self, count: int | None) -> Pieces:
        """`count` pieces evenly over all of them; all where there are no more."""
        if count is None or count >= len(self):
            return self
        return self.take(np.linspace(0, len(self) - 1, count).round().astype(np.int64))

    def places(self, batch: Ints) -> tuple[NDArray[np.bool_], Ints]:
        """For pieces of one width W: which of their bases are scored, (B, W), and where those stand in (M,)."""
        scored = np.arange(self.widths[batch[0]]) >= self.skips[batch, None]
        lengths = self.lengths[batch]
        before = np.cumsum(lengths) - lengths
        return scored, np.arange(lengths.sum()) + np.repeat(self.offsets[batch] - before, lengths)

    def batches(self, bases: int) -> Iterator[NDArray[np.int64]]:
        """Indices of pieces of one width that are read together, up to about `bases` bases at once."""
        for width in np.unique(self.widths):
            same = np.flatnonzero(self.widths == width)
            step = max(1, bases // int(width))
            yield from (same[first : first + step] for first in range(0, len(same), step))


def stretches(dataset: Dataset, split: Split) -> list[tuple[int, int]]:
    """The bases that a split's windows cover, [start, end) each once, in genome order; none crosses a contig."""
    starts = dataset.starts(split)
    if not len(starts):
        raise WindowError(
            f"{dataset.path} has no window in the split {split}; prepare it with contigs of it, or smaller windows"
        )
    contigs = contig_index(dataset, starts)
    fresh = np.flatnonzero((np.diff(starts) > dataset.window) | (np.diff(contigs) != 0)) + 1
    firsts, lasts = np.concatenate([[0], fresh]), np.concatenate([fresh - 1, [len(starts) - 1]])
    return [(int(starts[a]), int(starts[b]) + dataset.window) for a, b in zip(firsts, lasts, strict=True)]


def sliding(regions: list[tuple[int, int]], context: int, stride: int, rooms: Sequence[int] | None = None) -> Pieces:
    """Pieces of at most `context` bases that score each base of the regions once.

    The first piece of a region scores all of the region that it reads; each next one moves by `stride` and scores its
    last `stride` bases, which so have at least context - stride bases before them. Those of the first piece have them
    too where there is room: `rooms` says how many bases before each region may be read. With stride = context these
    are plain tiles.
    """
    if not 1 <= stride <= context:
        raise OptionError(f"--stride {stride}: the stride lies between 1 and the context of {context:,} bases")
    before = np.minimum(rooms or [0] * len(regions), context - stride).tolist()
    rows = [_pieces_of(*region, context, stride, skip) for region, skip in zip(regions, before, strict=True)]
    return Pieces(*np.concatenate(rows).T.copy())


def _pieces_of(start: int, end: int, context: int, stride: int, skip: int) -> Ints:
    """(n, 3): start, width, skip."""
    first = min(end, start - skip + context)
    ends = np.append(np.arange(first, end, stride), end)[1:]
    done = np.concatenate([[first], ends])[:-1]
    later = np.stack([ends - context, np.full_like(ends, context), context - (ends - done)], axis=1)
    return np.concatenate([[[start - skip, first - start + skip, skip]], later]).astype(np.int64)


def rooms(dataset: Dataset, regions: list[tuple[int, int]], split: Split) -> list[int]:
    """How many bases before each region of a split may be read as context, though they are not scored here.

    Bases of the same contig and the same split, or of none, as the guards between splits are.
    """
    contigs = contig_index(dataset, np.array([start for start, _ in regions], dtype=np.int64))
    places = zip(regions, (dataset.contigs[number] for number in contigs), strict=True)
    return [_room(contig, start - contig.offset, split) for (start, _), contig in places]


def _room(contig: Contig, start: int, split: Split) -> int:
    if not contig.spans:  # the dataset does not say whose the bases before are
        return 0
    return start - max((end for _, end, other in contig.spans if other != split and end <= start), default=0)


def contig_index(dataset: Dataset, positions: Ints) -> Ints:
    """The number of the contig that each absolute position lies in."""
    offsets = np.array([contig.offset for contig in dataset.contigs])
    return np.asarray(np.searchsorted(offsets, positions, side="right") - 1, dtype=np.int64)


def blocks_of(dataset: Dataset, pieces: Pieces, bases: int) -> Ints:
    """The block of `bases` contiguous bases of a contig that each piece's scored bases begin in, (n,)."""
    return blocks_at(dataset, pieces.starts + pieces.skips, bases)


def blocks_at(dataset: Dataset, positions: Ints, bases: int) -> Ints:
    """The block of `bases` contiguous bases of a contig that each absolute position lies in, (n,): none lies in two."""
    contigs = contig_index(dataset, positions)
    offsets = np.array([contig.offset for contig in dataset.contigs])
    blocks: Ints = (contigs << 40) | ((positions - offsets[contigs]) // bases)
    return blocks
