"""Rotary positions (RoPE, arXiv 2104.09864): pairs of content dimensions turn with the absolute position.

Dimension c is paired with c + C/2, as in GPT-NeoX and Llama.
"""

# B batch, H heads, T positions, C content width

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.autograd import Function

from dnagoat.attention.lanes.waves import frequencies, ladder, waves
from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.config import ModelConfig
from dnagoat.errors import OptionError


def turn(x: Tensor, cosine: Tensor, sine: Tensor) -> None:
    """Turns x (B, H, T, C) in place; cosine and sine are (B or 1, 1, T, C/2), in at least float32: one rounding."""
    exact = x.to(cosine.dtype)
    left, right = exact.chunk(2, dim=-1)
    kept = left * sine
    left.mul_(cosine).addcmul_(right, sine, value=-1)
    right.mul_(cosine).add_(kept)
    if exact is not x:
        x.copy_(exact)


class Turn(Function):
    """The rotation in place; backward turns the gradient the other way and needs only the shared cosines and sines."""

    @staticmethod
    def forward(ctx, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.mark_dirty(x)
        ctx.save_for_backward(cosine, sine)
        turn(x, cosine, sine)
        return x

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        cosine, sine = ctx.saved_tensors
        grad = grad.clone()
        turn(grad, cosine, -sine)
        return grad, None, None


def turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """x itself, turned in place, with its gradient."""
    return Turn.apply(x, cosine, sine)  # type: ignore[no-any-return, no-untyped-call]


class Rope(PositionScheme):
    """Turns queries and keys by their positions, frequency base ** (-2c / C) for pair c."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        if self.content % 2:
            raise OptionError(f"a content of {self.content} cannot be turned in pairs, as RoPE does; make it even")
        self.base = config.position.rope_base

    def frequencies(self, pairs: int) -> Tensor:
        """(C / 2,) radians a base, float64."""
        return ladder(pairs, self.base)

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        def make(positions: Tensor) -> Pair:
            precise = torch.promote_types(q.dtype, torch.float32)
            cosine, sine = waves(positions, self.frequencies(q.shape[-1] // 2), precise)
            return cosine.unsqueeze(-3), sine.unsqueeze(-3)

        return (
            turned(q, *at.once("rope", at.queries, make)),
            turned(k, *at.once("rope", at.keys, make)),
            None,
        )


class BiasedRope(Rope):
    """RoPE whose queries and keys have a bias a head: bias' R(d) bias is a spectral prior on frequencies of RoPE.

    With init `distances` the first R pairs turn with the prior's periods and the biases start as its peaks; the other
    pairs keep a RoPE ladder of their own. With another init the biases start at 0 and all pairs are RoPE's.
    """

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        self.own = frequencies(config.position.goat) if config.position.goat.init == "distances" else torch.empty(0)
        if 2 * len(self.own) > self.content:
            raise OptionError(
                f"rope+bias starts with {len(self.own)} periods, which turn {2 * len(self.own)} dimensions, more than "
                f"a head of {self.content}; give fewer periods, init uniform, or wider heads"
            )
        self.query_bias = nn.Parameter(torch.zeros(self.heads, self.content))
        self.key_bias = nn.Parameter(torch.zeros(self.heads, self.content))

    def frequencies(self, pairs: int) -> Tensor:
        return torch.cat([self.own, ladder(pairs - len(self.own), self.base)])

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        query, key = self.query_bias[:, None].to(q.dtype), self.key_bias[:, None].to(k.dtype)
        return super().rotate(q + query, k + key, at)

    @torch.no_grad()
    def kernel(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(H, T, S) float64: what the biases alone give to the scores; there are no lanes."""
        query = self.query_bias.double()[None, :, None].repeat(1, 1, len(queries), 1)
        key = self.key_bias.double()[None, :, None].repeat(1, 1, len(keys), 1)
        query, key, _ = super().rotate(query, key, At(queries, keys))
        return (query @ key.mT)[0] / self.root
