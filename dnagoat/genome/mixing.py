"""How do numbers become random-looking bits: the same on every machine and in every NumPy version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's step and finaliser (Steele, Lea, Flood 2014): one-to-one on 64 bits."""
    values = values * np.uint64(0x9E3779B97F4A7C15)
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values
