"""Which windows a close look is taken at: real ones spread over a split, and random ones without content."""

from __future__ import annotations

import numpy as np

from dnagoat.errors import WindowError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import gather
from dnagoat.genome.dataset import Dataset
from dnagoat.training.feed import spread

LOOKED_AT = 16  # windows where nobody says how many: dense attention is read, which is quadratic in the window


def real_windows(dataset: Dataset, options: MeasureOptions) -> tuple[Codes, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Codes (n, W) of windows spread over the split, and where they begin."""
    starts = spread(dataset.starts(options.split), options.windows or LOOKED_AT)
    if not len(starts):
        raise WindowError(f"{dataset.path} has no {options.split} window; choose another split")
    return gather(dataset.tokens, starts, dataset.window), starts


def random_windows(count: int, width: int, seed: int) -> Codes:
    """Codes (n, W) of independent, equally likely bases."""
    return np.random.default_rng([seed, width]).integers(0, 4, size=(count, width), dtype=np.uint8)
