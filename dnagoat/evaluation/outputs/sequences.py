"""How likely are a user's own sequences: log-probability of each record of a FASTA file, on both strands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.outputs.readings import context_and_stride, hold
from dnagoat.evaluation.scoring.likelihood import score
from dnagoat.evaluation.scoring.pieces import sliding
from dnagoat.genome.alphabet import Codes, reverse_complement
from dnagoat.genome.read.in_order import read_records
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, relabelled, silent

STRANDS = ("forward", "reverse", "both")
COLUMNS: dict[str, type] = {
    "name": str,
    "length": int,
    "scored": int,
    **{f"log_p_{strand}": float for strand in STRANDS},
    **{f"mean_log_p_{strand}": float for strand in STRANDS},
    "bits": float,
}


@dataclass(frozen=True)
class Record:
    """One sequence: `scored` of its `length` bases have a log-probability (N has none); sums and means in nats.

    Means are None where nothing is scored. `reverse` is the reverse complement, `both` the mean of the two strands.
    """

    name: str
    length: int
    scored: int
    forward: float
    reverse: float

    @property
    def both(self) -> float:
        return (self.forward + self.reverse) / 2

    @property
    def bits(self) -> float | None:
        """What a scored base costs on average, both strands, in bits."""
        return -self.both / self.scored / math.log(2) if self.scored else None

    def row(self) -> dict[str, str | int | float | None]:
        """Cells of `COLUMNS`."""
        sums = {"forward": self.forward, "reverse": self.reverse, "both": self.both}
        return {
            "name": self.name,
            "length": self.length,
            "scored": self.scored,
            **{f"log_p_{strand}": total for strand, total in sums.items()},
            **{f"mean_log_p_{strand}": total / self.scored if self.scored else None for strand, total in sums.items()},
            "bits": self.bits,
        }


def score_records(
    model: DnaLM,
    path: Path,
    batch_bases: int,
    context: int | None = None,
    stride: int | None = None,
    progress: Progress = silent,
) -> Iterator[Record]:
    """Scores each record of a FASTA (plain, gzip) or 2bit file, in order; memory is that of a few million bases.

    A record longer than `context` (the training length) is read in overlapping pieces that move by `stride` (half the
    context); each base is scored once.
    """
    return score_sequences(model, read_records(path), batch_bases, context, stride, progress)


def score_sequences(
    model: DnaLM,
    sequences: Iterable[tuple[str, Codes]],
    batch_bases: int,
    context: int | None = None,
    stride: int | None = None,
    progress: Progress = silent,
) -> Iterator[Record]:
    """As `score_records`, of names and codes (L,) that are in memory already."""
    context, stride = context_and_stride(model, context, stride)
    done = 0
    progress("reading records", 0, 0)
    for held in hold(sequences, lambda named: len(named[1])):
        strands = [
            _sums(model, [turn(codes) for _, codes in held], context, stride, batch_bases, relabelled(progress, where))
            for turn, where in ((np.asarray, "as it stands"), (reverse_complement, "reverse complement"))
        ]
        for (name, codes), (forward, scored), (reverse, _) in zip(held, *strands, strict=True):
            yield Record(name, len(codes), int(scored), 0.0 - float(forward), 0.0 - float(reverse))
        done += len(held)
        progress("reading records", done, 0)


def _sums(
    model: DnaLM, records: list[Codes], context: int, stride: int, batch_bases: int, progress: Progress
) -> list[tuple[np.float64, np.float64]]:
    """Nats and scored bases of each record; records of one length pass through the model together."""
    ends = np.cumsum([len(codes) for codes in records])
    regions = [(int(end) - len(codes), int(end)) for end, codes in zip(ends, records, strict=True)]
    filled = [region for region in regions if region[0] < region[1]]
    if not filled:
        return [(np.float64(0), np.float64(0))] * len(records)
    scores = score(model, np.concatenate(records), sliding(filled, context, stride), batch_bases, progress)
    owner: NDArray[np.int64] = np.searchsorted(ends, scores.pieces.starts, side="right")
    nats = np.bincount(owner, scores.sums(), minlength=len(records))
    counts = np.bincount(owner, scores.counts(), minlength=len(records))
    return list(zip(nats, counts, strict=True))
