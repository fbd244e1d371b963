"""Cosines and sines of positions: angles are formed in float64, so that base 100,000 turns as exactly as base 1."""

# T positions, R frequencies

from __future__ import annotations

import torch
from torch import Tensor


def ladder(count: int, base: float) -> Tensor:
    """(R,) radians a base, float64: the geometric ladder base ** (-r / R) of RoPE and the sinusoids."""
    return base ** (-torch.arange(count, dtype=torch.float64) / count)


def whole_ladder(count: int, base: float) -> Tensor:
    """(R,) radians a base, float64: base ** (-r / (R - 1)), from 1 to 1 / base, as GOAT's authors have it."""
    return base ** (-torch.arange(count, dtype=torch.float64) / max(count - 1, 1))


def waves(positions: Tensor, frequencies: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """(..., T) positions, (R,) frequencies -> cosines and sines, each (..., T, R) in `dtype`."""
    angles = positions[..., None].double() * frequencies.to(positions.device, torch.float64)
    return angles.cos().to(dtype), angles.sin().to(dtype)
