"""Cosines and sines of positions: angles are formed in float64, so that base 100,000 turns as exactly as base 1."""

# T positions, R frequencies

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from dnagoat.config import GoatConfig, GoatForm


def ladder(count: int, base: float) -> Tensor:
    """(R,) radians a base, float64: the geometric ladder base ** (-r / R) of RoPE and the sinusoids."""
    return base ** (-torch.arange(count, dtype=torch.float64) / count)


def whole_ladder(count: int, base: float) -> Tensor:
    """(R,) radians a base, float64: base ** (-r / (R - 1)), from 1 to 1 / base, as GOAT's authors have it."""
    return base ** (-torch.arange(count, dtype=torch.float64) / max(count - 1, 1))


LADDERS: dict[GoatForm, Callable[[int, float], Tensor]] = {"own": ladder, "authors": whole_ladder}


def frequencies(goat: GoatConfig) -> Tensor:
    """(R,) radians a base, float64: of the periods of a configuration, or the ladder where it has none."""
    if goat.periods is None:
        return LADDERS[goat.form](goat.rank, goat.ladder_base)
    return 2 * math.pi / torch.tensor(goat.periods, dtype=torch.float64)


def waves(positions: Tensor, frequencies: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """(..., T) positions, (R,) frequencies -> cosines and sines, each (..., T, R) in `dtype`."""
    angles = positions[..., None].double() * frequencies.to(positions.device, torch.float64)
    return angles.cos().to(dtype), angles.sin().to(dtype)
