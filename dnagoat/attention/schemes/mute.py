"""A scheme of which one thing is switched off: what a trained model loses without it is what it is worth."""

from __future__ import annotations

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import BIAS, EMBEDDING, ROTATION, At, Pair, PositionScheme


class Mute(PositionScheme):
    """As `scheme`, but for `closed`: its embedding, its rotation, or what it adds to the scores."""

    def __init__(self, scheme: PositionScheme, closed: str) -> None:
        super().__init__(scheme.config, scheme.layer)
        self.scheme, self.lanes, self.closed = scheme, scheme.lanes, closed

    def embed(self, x: Tensor, at: At) -> Tensor:
        return x if self.closed == EMBEDDING else self.scheme.embed(x, at)

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        return (q, k, None) if self.closed == ROTATION else self.scheme.rotate(q, k, at, before)

    def lanes_at(self, at: At) -> Pair | None:
        """Lanes are there, for the head's width is fixed, and say nothing where they are switched off."""
        lanes = self.scheme.lanes_at(at)
        return lanes if lanes is None or self.closed != BIAS else (torch.zeros_like(lanes[0]), lanes[1])

    def bias(self, at: At) -> Tensor | None:
        return self.scheme.bias(at)

    @property
    def biased(self) -> bool:
        return self.scheme.biased and self.closed != BIAS
