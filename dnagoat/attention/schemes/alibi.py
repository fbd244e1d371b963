"""Attention with linear biases (ALiBi, arXiv 2108.12409): a fixed slope a head, through the lanes of recency."""

# H heads

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dnagoat.attention.schemes.base import At, Pair, PositionScheme

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import ModelConfig


def alibi_slopes(heads: int) -> Tensor:
    """(H,) float64: 2 ** (-8 h / n) for a power of two n; otherwise that of the power below, then every other one of
    the power above (the paper's own rule)."""
    import torch

    below = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (h + 1) / below) for h in range(below)]
    between = [2 ** (-8 * (h + 1) / (2 * below)) for h in range(0, 2 * below, 2)]
    return torch.tensor((slopes + between)[:heads], dtype=torch.float64)


class Alibi(PositionScheme):
    """Log-prior slope * j: the causal mask makes it -slope * |i - j| up to a row constant."""

    unseen = "nothing"  # its slopes leave far bases without weight
    colours = ("#5f9d6a", "#32d5a5")
    slopes: Tensor

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        from dnagoat.attention.lanes.exact import EXACT
        from dnagoat.attention.lanes.recency import LANES

        super().__init__(config, layer)
        self.reach, self.lanes = EXACT, LANES + 1  # an even content width, so that a rotation could be put on it
        self.register_buffer("slopes", alibi_slopes(config.heads).float(), persistent=False)

    def lanes_at(self, at: At) -> Pair:
        from torch.nn.functional import pad

        from dnagoat.attention.lanes import recency

        query = recency.query_lanes(self.slopes, at, self.root)
        key = recency.key_lanes(at, self.slopes.dtype)
        key = key.expand(*key.shape[:-3], self.heads, *key.shape[-2:])
        return pad(query, (0, 1)), pad(key, (0, 1))

    @classmethod
    def lanes_of(cls, schemes: Sequence[PositionScheme], at: At) -> Pair | None:
        lanes = schemes[0].lanes_at(at)  # slopes are fixed, and those of every layer
        assert lanes is not None
        query, key = (side.expand(len(schemes), *side.shape) for side in lanes)
        return query, key

    def recency(self) -> Tensor:
        return self.slopes

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor:
        return -alibi_slopes(self.heads).to(i.device)[:, None, None] * (i - j).abs()
