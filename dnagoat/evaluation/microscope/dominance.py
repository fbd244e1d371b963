"""Do some waves of the learned priors stand out, or are the strongest ones just the strongest of many?

Null: within a head the waves are exchangeable. The waves of every head are ranked; a wave that leads in head after head
has a mean rank that shuffled heads do not reach. The p-value is of the largest mean rank of all waves, so that
looking at many waves at once is paid for.
"""

# n heads of all layers, R waves

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

SHUFFLES = 2000


def rank_waves(sizes: NDArray[np.float64], seed: int = 0, shuffles: int = SHUFFLES) -> tuple[list[float], list[float]]:
    """Mean rank (1 to R) and p-value of each wave, from sizes (n, R)."""
    ranks = rankdata(sizes, axis=1)
    means = ranks.mean(0)
    random = np.random.default_rng(seed)
    highest = [random.permuted(ranks, axis=1).mean(0).max() for _ in range(shuffles)]
    reached = (np.asarray(highest)[:, None] >= means - 1e-9).sum(0)
    return means.tolist(), ((1 + reached) / (1 + shuffles)).tolist()
