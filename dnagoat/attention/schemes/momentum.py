"""Momentum attention (arXiv 2602.04902): queries and keys are sheared by their own last step, x_t + g (x_t - x_{t-1}).

It wraps any scheme and acts after its rotation: before it, the difference would rotate too. Values and position lanes
are left alone, the first position has no past and stays.
"""

# B batch, H heads, T positions, C content width

from __future__ import annotations

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.attention.schemes.wrapper import Wrapper
from dnagoat.config import ModelConfig, MomentumConfig


def shear(x: Tensor, strength: Tensor, last: Tensor | None) -> Tensor:
    """x (B, H, T, C) -> x_t + g (x_t - x_{t-1}); `last` (B, H, 1, C) is the unsheared one before the first."""
    past = torch.cat([x[..., :1, :] if last is None else last, x[..., :-1, :]], dim=-2)
    return torch.lerp(past, x, 1 + strength)  # one operation, so one rounding in half precision


class Momentum(Wrapper):
    """A scheme with the shear on top; g grows linearly from a third to its target over `ramp_steps`."""

    name = "momentum"
    looks_back = 1
    strength: Tensor

    def __init__(self, inner: PositionScheme, config: ModelConfig, momentum: MomentumConfig) -> None:
        super().__init__(inner, config)
        self.target, self.ramp_steps = momentum.strength, momentum.ramp_steps
        self.register_buffer("strength", torch.tensor(momentum.strength))
        self.set_step(0)

    def set_step(self, step: int) -> None:
        done = min(step / self.ramp_steps, 1.0) if self.ramp_steps else 1.0
        self.strength.fill_(self.target * (1 + 2 * done) / 3)
        super().set_step(step)

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        q, k, _ = self.inner.rotate(q, k, at)
        strength = self.strength.to(q.dtype)
        last_q, last_k = before or (None, None)
        held = q[..., -1:, :].detach(), k[..., -1:, :].detach()
        return shear(q, strength, last_q), shear(k, strength, last_k), held

    def exact_content(self, x: Tensor, positions: Tensor, side: str) -> Tensor:
        x = self.inner.exact_content(x, positions, side)
        step = x[..., 1:, :] - x[..., :-1, :]
        return torch.cat([x[..., :1, :], x[..., 1:, :] + float(self.strength) * step], dim=-2)
