"""Cosines and sines of positions: angles are formed in float64, so that base 100,000 turns as exactly as base 1."""

# T positions, R frequencies

from __future__ import annotations

import torch
from torch import Tensor


def ladder(count: int, base: float, device: torch.device | None = None) -> Tensor:
    """(R,) radians a base, float64: the geometric ladder base ** (-r / R) of RoPE and the sinusoids."""
    return base ** (-torch.arange(count, dtype=torch.float64, device=device) / count)


def whole_ladder(count: int, base: float) -> Tensor:
    """(R,) radians a base, float64: base ** (-r / (R - 1)), from 1 to 1 / base, as GOAT's authors have it."""
    return base ** (-torch.arange(count, dtype=torch.float64) / max(count - 1, 1))


def waves(positions: Tensor, frequencies: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """(..., T) positions, (R,) or (L, R) frequencies -> cosines and sines, (..., T, R) each in `dtype`."""
    angles = positions[..., None].double() * frequencies.double().unsqueeze(-2)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def as_bits(x: Tensor) -> Tensor:
    """float64 as int64 of the same bits: a buffer that goes to a device with its module and keeps its digits, where a
    floating one would take on the precision of the weights."""
    return x.double().view(torch.int64)


def from_bits(x: Tensor) -> Tensor:
    """The opposite; nothing is copied."""
    return x.view(torch.float64)
