"""Which yardsticks a model is held against: tables of the training split, scored on exactly the model's bases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts import repeats
from dnagoat.counts.hashed import CROWDED, HashedCounts, count_hashed, lengthened
from dnagoat.counts.markov import Chances, MarkovTables, backed_off, count, interpolated
from dnagoat.counts.mixture import copied, mixed
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.pieces import Pieces, stretches
from dnagoat.genome.alphabet import CODE, Codes
from dnagoat.genome.batches import gather
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, counter, silent

# n pieces, B of them in a batch, W bases of a piece

BATCH_BASES = 1 << 19
GROUP_BASES = 1 << 24  # the training split is searched for repeats once for so many scored bases
KEPT = 2  # answers: validation and test


@dataclass(frozen=True)
class Rung:
    """One baseline: its kind, and the bases of context that its tables hold; None where it has none of its own."""

    kind: Literal["markov", "backoff", "hashed", "mix", "repeats"]
    order: int | None = None

    @property
    def name(self) -> str:
        """As a reader is told it; `kind` and `order` are for whoever asks which one it is."""
        return {
            "markov": f"order-{self.order}",
            "backoff": f"order-{self.order}, backing off",
            "hashed": f"order-{self.order}, hashed",
            "mix": "mix of all orders",
            "repeats": "repeat copier",
        }[self.kind]


Ladder = dict[Rung, NDArray[np.float64]]  # nats of each piece (n,), from the simplest rung to the best informed
ANSWERS: dict[str, Ladder] = {}


@dataclass(frozen=True)
class Trained:
    """What was counted in a dataset's training split."""

    markov: MarkovTables
    hashed: HashedCounts


def ladder_sums(dataset: Dataset, scores: Scores, progress: Progress = silent) -> Ladder:
    """Nats of each piece (n,) under each baseline, over the bases that the model was scored on, with its context.

    The answers for the latest bases are kept, a question for each split: the runs of a comparison share them.
    """
    question = _question(dataset, scores)
    if question not in ANSWERS:
        while len(ANSWERS) >= KEPT:
            del ANSWERS[next(iter(ANSWERS))]
        ANSWERS[question] = _computed(dataset, scores, progress)
    return ANSWERS[question]


def _question(dataset: Dataset, scores: Scores) -> str:
    """A hash of everything that the answer depends on."""
    asked = sha256(os.fsencode(dataset.path) + b" " + dataset.content_hash.encode())
    pieces = scores.pieces
    for array in (pieces.starts, pieces.widths, pieces.skips, np.packbits(np.isnan(scores.losses))):
        asked.update(np.ascontiguousarray(array).tobytes())
    return asked.hexdigest()


def _computed(dataset: Dataset, scores: Scores, progress: Progress) -> Ladder:
    tables = count_training(dataset, progress)
    pieces = scores.pieces
    sums: Ladder = {}
    done = 0
    for group in _groups(pieces):
        batches = [group[batch] for batch in pieces.take(group).batches(BATCH_BASES)]
        progress("searching the training split for repeats", 0, 0)
        found = _occurrences(dataset, pieces, batches)
        progress("baselines, windows", done, len(pieces))
        for batch in batches:
            inside, places = pieces.places(batch)
            scored = np.zeros_like(inside)
            scored[inside] = ~np.isnan(scores.losses[places])
            for rung, chances in _rungs(tables, found, _read(dataset, pieces, batch)):
                column = sums.setdefault(rung, np.zeros(len(pieces)))
                column[batch] = -np.log(chances, out=np.zeros_like(chances), where=scored).sum(axis=1)
            done += len(batch)
            progress("baselines, windows", done, len(pieces))
    return sums


def _rungs(tables: Trained, found: repeats.Occurrences, codes: Codes) -> Iterator[tuple[Rung, Chances]]:
    """The chances (B, W) that each baseline gives codes (B, W), from the simplest to the best informed."""
    orders = list(interpolated(tables.markov, codes))
    yield from ((Rung("markov", k), chances) for k, chances in enumerate(orders))
    *_, backed = backed_off(tables.markov, codes)
    yield Rung("backoff", tables.markov.order), backed
    if tables.hashed.load <= CROWDED:
        orders.append(lengthened(tables.hashed, codes, orders[-1]))
        yield Rung("hashed", tables.hashed.order), orders[-1]
    blend = mixed(np.stack(orders))
    yield Rung("mix"), blend
    copies = [copied(blend, codes, predicted) for predicted in (found.predict(codes), repeats.from_context(codes))]
    yield Rung("repeats"), mixed(np.stack([blend, *copies]))


def _groups(pieces: Pieces) -> list[NDArray[np.int64]]:
    """Consecutive pieces that hold about GROUP_BASES together."""
    edges = np.flatnonzero(np.diff(np.cumsum(pieces.widths) // GROUP_BASES)) + 1
    return np.split(np.arange(len(pieces)), edges)


def _occurrences(dataset: Dataset, pieces: Pieces, batches: list[NDArray[np.int64]]) -> repeats.Occurrences:
    kmers = repeats.asked_for(_read(dataset, pieces, batch) for batch in batches)
    return repeats.occurrences(training(dataset), kmers)


def _read(dataset: Dataset, pieces: Pieces, batch: NDArray[np.int64]) -> Codes:
    return gather(dataset.tokens, pieces.starts[batch], int(pieces.widths[batch[0]]))


def training(dataset: Dataset) -> Iterator[Codes]:
    """The stretches of the training split as codes, one at a time."""
    return (np.asarray(dataset.tokens[start:end]) & np.uint8(CODE) for start, end in stretches(dataset, "train"))


COUNTED: dict[tuple[Path, str], Trained] = {}


def count_training(dataset: Dataset, progress: Progress = silent) -> Trained:
    """The counts of a dataset's training split; kept while the same dataset is asked for."""
    key = dataset.path, dataset.content_hash
    if key not in COUNTED:
        COUNTED.clear()
        bases = sum(end - start for start, end in stretches(dataset, "train"))
        markov = count(training(dataset), heard=counter(progress, "counting training bases, orders 0 to 12", bases))
        heard = counter(progress, "counting training bases, order 16", bases)
        COUNTED[key] = Trained(markov, count_hashed(training(dataset), markov.bases, heard=heard))
    return COUNTED[key]
