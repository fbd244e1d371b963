"""How well scores rank two classes: AUROC and average precision, of many weightings of the examples at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# n examples, R weightings, g different scores

Floats = NDArray[np.float64]


def auroc(scores: Floats, positive: NDArray[np.bool_], weights: Floats) -> Floats:
    """(R,): the chance that a positive example (n,) has the higher score, ties counting half; weights (R, n).

    NaN where a weighting leaves out a class.
    """
    ours, others = _by_score(scores, weights * positive), _by_score(scores, weights * ~positive)
    below = np.cumsum(others, axis=1) - others / 2
    return _ratio((ours * below).sum(1), ours.sum(1) * others.sum(1))


def average_precision(scores: Floats, positive: NDArray[np.bool_], weights: Floats) -> Floats:
    """(R,): the precision at each score that a positive example has, averaged over these; NaN without any."""
    ours, every = _by_score(scores, weights * positive), _by_score(scores, weights)
    found, taken = (np.cumsum(side[:, ::-1], axis=1)[:, ::-1] for side in (ours, every))
    return _ratio((ours * _ratio(found, taken, 0.0)).sum(1), ours.sum(1))


def _by_score(scores: Floats, weights: Floats) -> Floats:
    """(R, g): the weight at each score, ascending."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    firsts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.asarray(np.add.reduceat(weights[:, order], firsts, axis=1))


def _ratio(top: Floats, bottom: Floats, otherwise: float = np.nan) -> Floats:
    return np.divide(top, bottom, out=np.full_like(top, otherwise), where=bottom > 0)
