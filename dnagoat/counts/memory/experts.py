"""Which words are counted: expert (k, g) knows what followed, g bases later, the word of k bases.

    p = (c + alpha p_lower) / (n + alpha)      c of n times the base followed; p_lower is that of a shorter word

`words` are those without a gap, each backed by the next shorter one. `gaps` forgive a substitution: what ends before it
is still right; they are backed by order 8. Counts of up to 9 bases in all are looked up without a search. `context`
are words of what the sequence itself has had so far, counted while it is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.config import Family

ALPHAS = {2: 20.0, 3: 20.0, 4: 20.0, 6: 20.0, 8: 20.0, 9: 20.0, 10: 16.0, 11: 8.0, 12: 4.0}
ALPHAS |= {14: 2.0, 16: 1.0, 20: 0.5, 24: 0.5}
GAPPED = ((16, 1), (16, 2), (16, 4), (16, 8), (16, 16), (12, 1), (12, 4), (12, 12), (24, 8))
GAP_ALPHA, BACKING = 1.0, 8
GAPS = (0, *sorted({gap for _, gap in GAPPED}))
CONTEXT = {4: 60.0, 6: 20.0, 8: 6.0, 11: 2.0, 16: 1.0}
SHORT = 8  # the longest word that is looked up directly
SEARCHED = tuple(k for k in ALPHAS if k > SHORT)


class Experts(NamedTuple):
    """E experts: word lengths, gaps, alphas, which expert backs each (-1: a quarter for each base); all (E,).

    The first `counted` of them ask the tables of the training split, those after them what was read.
    """

    lengths: NDArray[np.int64]
    gaps: NDArray[np.int64]
    alphas: NDArray[np.float64]
    backing: NDArray[np.int64]
    counted: int


@lru_cache
def experts_of(families: tuple[Family, ...]) -> Experts:
    """The experts of the families that a model has."""
    words = list(ALPHAS)
    rows = [(k, 0, alpha, before - 1) for before, (k, alpha) in enumerate(ALPHAS.items())]
    if "gaps" in families:
        rows += [(k, gap, GAP_ALPHA, words.index(BACKING)) for k, gap in GAPPED]
    counted = len(rows)
    if "context" in families:
        shorter = (-1, *range(counted, counted + len(CONTEXT)))
        rows += [(k, 0, alpha, backing) for (k, alpha), backing in zip(CONTEXT.items(), shorter, strict=False)]
    lengths, gaps, alphas, backing = (np.array(column) for column in zip(*rows, strict=True))
    return Experts(lengths, gaps, alphas, backing, counted)


def family_of(families: tuple[Family, ...]) -> list[Family]:
    """The family of each expert, (E,)."""
    sizes: dict[Family, int] = {"words": len(ALPHAS), "gaps": len(GAPPED), "context": len(CONTEXT)}
    return [family for family, size in sizes.items() if family in families for _ in range(size)]
