"""A prior that the sequence dials: a gate a query and head, g = 2 sigmoid(W x + level), multiplies the log-prior.

x is what the layer reads at the query, so that scores are q k' / sqrt(C) + g(x_i) K_ij. The gate wraps any scheme with
lanes and scales those of the query: keys, and so what decoding keeps, stay as they are. It starts at 1, where it
changes nothing, and W and the level have gradients from the first step; 0 would be plain attention, 2 twice the prior.
What is shown of a prior without a sequence (its curves, peaks and slopes) is at a gate of 1.
"""

# B batch, H heads, T positions, W width of the layer's input

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.attention.schemes.wrapper import Wrapper
from dnagoat.config import ModelConfig
from dnagoat.errors import OptionError

LEAST = -80.0  # below it float32 has no gate but 0, which would make a number of no infinity that hides a key


class Gate(Wrapper):
    """A scheme with the gate around it; an `OptionError` where it has no lanes."""

    name = "gate"

    def __init__(self, inner: PositionScheme, config: ModelConfig) -> None:
        super().__init__(inner, config)
        if not inner.lanes:
            raise OptionError(
                f"a gate dials a prior's lanes, and {config.position.name} has none; leave the gate out, or take "
                "alibi, goat or goat+rope"
            )
        self.gated = True
        self.weights = nn.Parameter(torch.zeros(self.heads, config.width))
        self.level = nn.Parameter(torch.zeros(self.heads))

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        return self.inner.rotate(q, k, at, before)

    def gate(self, x: Tensor) -> Tensor:
        read = linear(x.to(self.weights.dtype), self.weights, self.level)
        return 2 * read.clamp(min=LEAST).sigmoid().transpose(-1, -2).unsqueeze(-1)

    def exact_gate(self, x: Tensor) -> Tensor:
        read = x @ self.weights.double().T + self.level.double()
        return (2 / (1 + torch.exp(-read))).transpose(-1, -2).unsqueeze(-1)

    def spread(self, generator: torch.Generator, slope: float) -> None:
        self.inner.spread(generator, slope)
        reach = self.weights.shape[1] ** -0.5
        self.weights.uniform_(-reach, reach, generator=generator)
        self.level.uniform_(-0.5, 0.5, generator=generator)
