"""A short causal convolution of queries and keys, each channel by itself.

It wraps any scheme and acts before its rotation, on content alone. A head then sees the bases just before its own
without a position scheme that tells it where they are: the fair rival of a prior that starts at small distances.
"""

# B batch, H heads, T positions, C content width, N taps on the past

from __future__ import annotations

import torch
from torch import Tensor, nn

from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.attention.schemes.wrapper import Wrapper
from dnagoat.config import ModelConfig


def convolved(x: Tensor, taps: Tensor, before: Tensor | None) -> tuple[Tensor, Tensor]:
    """x (B, H, T, C) -> x_t + sum_n taps[n] x_(t-1-n), and the last N of x; `before` are the N that came before it."""
    back, count = taps.shape[1], x.shape[-2]
    past = x.new_zeros(*x.shape[:2], back, x.shape[-1]) if before is None else before
    padded = torch.cat([past, x], dim=-2)
    y = x
    for n in range(back):
        y = torch.addcmul(y, padded.narrow(-2, back - 1 - n, count), taps[:, n, None].to(x.dtype))
    return y, padded[..., count:, :].detach()


class Convolution(Wrapper):
    """A scheme with the convolution before it; its taps (H, N, C) start at 0, where it changes nothing."""

    name = "convolution"

    def __init__(self, inner: PositionScheme, config: ModelConfig, taps: int) -> None:
        super().__init__(inner, config)
        self.looks_back = taps - 1
        self.query_taps = nn.Parameter(torch.zeros(self.heads, taps - 1, self.content))
        self.key_taps = nn.Parameter(torch.zeros(self.heads, taps - 1, self.content))

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        last_q, last_k = before or (None, None)
        q, held_q = convolved(q, self.query_taps, last_q)
        k, held_k = convolved(k, self.key_taps, last_k)
        q, k, _ = self.inner.rotate(q, k, at)
        return q, k, (held_q, held_k)

    def exact_content(self, x: Tensor, positions: Tensor, side: str) -> Tensor:
        taps, filtered = getattr(self, f"{side}_taps").double(), x.clone()
        for n in range(self.looks_back):
            filtered[..., n + 1 :, :] += taps[:, n, None] * x[..., : x.shape[-2] - n - 1, :]
        return self.inner.exact_content(filtered, positions, side)

    def spread(self, generator: torch.Generator, slope: float) -> None:
        self.inner.spread(generator, slope)
        for taps in (self.query_taps, self.key_taps):
            taps.uniform_(-0.5, 0.5, generator=generator)
