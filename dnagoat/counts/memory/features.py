"""What memory tells a model after each symbol: plain arrays, so that a model needs no tables to be built."""

# B sequences, T symbols, E experts, F fades, V levels of a vote

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

AGREED = (0, 15, 18, 21, 24, 27, 29, 31)  # of the last 32 bases: where each level of a copy's agreement begins
STREAK = (0, 1, 4, 8, 16, 24)  # bases without a mismatch: where each level of its streak begins
LEVELS = len(AGREED) * len(STREAK)
FADES = (0.9, 0.98)  # in an expert's record of the last symbols: how much one counts of what the next one does


class Features(NamedTuple):
    """After each symbol, in nats above a guess among four: how the experts had judged it, `surprise` (B, T, E), and the
    last ones, `records` (B, T, F, E); what they say of the next base, `says` (B, T, E, 4), having `seen` its word n
    times, log(1 + n) (B, T, E); and the copies' `votes` (B, T, V, 4), uint8. NumPy's arrays or torch's tensors."""

    surprise: Any
    records: Any
    says: Any
    seen: Any
    votes: Any


def blank(experts: int, levels: int, batch: int, count: int) -> Features:
    """Features of `count` symbols of `batch` sequences, all 0: of a memory that knows nothing."""
    shape = (batch, count)
    return Features(
        np.zeros((*shape, experts), np.float32),
        np.zeros((*shape, len(FADES), experts), np.float32),
        np.zeros((*shape, experts, 4), np.float32),
        np.zeros((*shape, experts), np.float32),
        np.zeros((*shape, levels, 4), np.uint8),
    )
