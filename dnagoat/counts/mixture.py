"""How several predictors become one: each is trusted by how well it has done in the window so far.

Both are distributions over the four bases before the base is seen, so that their losses are honest code lengths.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import softmax

from dnagoat.counts.kmers import Codes

# E predictors, B windows, W bases of a window

MEMORY = 0.95  # by how much an older base counts less than the one after it

Chances = NDArray[np.float64]


def mixed(chances: Chances, memory: float = MEMORY) -> Chances:
    """The chances (E, B, W) that E predictors gave the true base, weighted by their own past, (B, W).

    A predictor's weight is exp(-its nats so far in the window), older ones fading; at the start all are equal.
    """
    nats = -np.log(np.nan_to_num(chances, nan=1.0))  # an N tells nothing about anyone
    faded = lfilter([1.0], [1.0, -memory], nats, axis=-1)
    before = np.concatenate([np.zeros_like(faded[..., :1]), faded[..., :-1]], axis=-1)
    return np.asarray((softmax(-before, axis=0) * chances).sum(axis=0))


def copied(chances: Chances, codes: Codes, predicted: Codes) -> Chances:
    """Chances (B, W) improved by predicted bases (B, W, above 3: none), trusted by the share that came true so far.

    p = h 1[base is predicted] + (1 - h) p_before, h = (right so far + 1) / (predictions so far + 2).
    """
    tried = (predicted < 4) & (codes < 4)
    right = tried & (predicted == codes)
    trust = (_before(right) + 1) / (_before(tried) + 2)
    return np.where(predicted < 4, trust * right + (1 - trust) * chances, chances)


def _before(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.cumsum(flags, axis=-1) - flags
