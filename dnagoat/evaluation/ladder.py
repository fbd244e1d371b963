"""Which yardsticks a model is held against: tables of the training split, scored on exactly the model's bases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.likelihood import Scores
from dnagoat.evaluation.markov import MarkovTables, backed_off, count, interpolated
from dnagoat.evaluation.measures import Progress, silent
from dnagoat.evaluation.pieces import stretches
from dnagoat.genome.alphabet import CODE, Codes
from dnagoat.genome.batches import gather
from dnagoat.genome.dataset import Dataset, open_dataset

# n pieces, B of them in a batch, W bases of a piece

BATCH_BASES = 1 << 20
Column = tuple[str, NDArray[np.float64]]


def ladder_sums(dataset: Dataset, scores: Scores, progress: Progress = silent) -> dict[str, NDArray[np.float64]]:
    """Nats of each piece (n,) under each baseline, over the bases that the model was scored on, with its context."""
    pieces = scores.pieces
    markov = trained(dataset.path, dataset.content_hash)
    sums: dict[str, NDArray[np.float64]] = {}
    done = 0
    for batch in pieces.batches(BATCH_BASES):
        inside, places = pieces.places(batch)
        scored = np.zeros_like(inside)
        scored[inside] = ~np.isnan(scores.losses[places])
        for name, chances in _chances(markov, gather(dataset.tokens, pieces.starts[batch], inside.shape[1])):
            column = sums.setdefault(name, np.zeros(len(pieces)))
            column[batch] = -np.log(chances, out=np.zeros_like(chances), where=scored).sum(axis=1)
        done += len(batch)
        progress("baselines", done, len(pieces))
    return sums


def _chances(markov: MarkovTables, codes: Codes) -> Iterator[Column]:
    for k, chances in enumerate(interpolated(markov, codes)):
        yield f"order-{k}", chances
    *_, chances = backed_off(markov, codes)
    yield f"order-{markov.order}-backoff", chances


@lru_cache(maxsize=1)
def trained(path: Path, content_hash: str) -> MarkovTables:
    """The counts of a dataset's training split; kept while the same dataset is asked for."""
    dataset = open_dataset(path)
    return count(np.asarray(dataset.tokens[start:end]) & np.uint8(CODE) for start, end in stretches(dataset, "train"))
