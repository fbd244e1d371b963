"""FIRE (arXiv 2310.04418): a small network of the distance, as a share of how far the query can see.

    B_ij = f(log(1 + c (i - j)) / log(1 + c max(L, i)))      c and L are learned, f is a perceptron shared by the heads

Shares stay between 0 and 1 at any length. The output has no bias: it would add the same to all keys of a row.
"""

# H heads, T queries, S keys, W width of the network

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.settings import Option, Settings

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from dnagoat.config import ModelConfig


EPS = 1e-6  # the paper's, against 0 / 0


class FireSettings(Settings):
    width: Annotated[int, Option("fire-width", "Hidden width of FIRE's network.")] = Field(32, ge=1)
    threshold: Annotated[
        float,
        Option("fire-threshold", "Bases up to which all queries are alike, at first.", write="{:g}".format),
    ] = Field(512.0, gt=0)


class Fire(PositionScheme):
    settings = FireSettings
    colours = ("#7800d2", "#9000fc")
    learned = True
    gradient_bar = 1e-2  # in float32 a share may lie on the other side of a kink of the network

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        import torch
        from torch import nn

        super().__init__(config, layer)
        own = self.settings_as(FireSettings)
        self.threshold = own.threshold
        self.curve, self.stretch = nn.Parameter(torch.ones(())), nn.Parameter(torch.ones(()))
        self.inner, self.outer = nn.Linear(1, own.width), nn.Linear(own.width, self.heads, bias=False)

    def bias(self, at: At) -> Tensor:
        i, j = at.queries[..., :, None], at.keys[..., None, :]
        reach = (self.threshold * self.stretch).abs().maximum(i.to(self.stretch.dtype))
        scale = self.curve.abs()
        share = ((i - j).clamp(min=0) * scale).log1p() / ((reach * scale).log1p() + EPS)
        return self.outer(self.inner(share.unsqueeze(-1)).relu()).movedim(-1, -3)  # type: ignore[no-any-return]

    def start(self, name: str, idle: Tensor, draw: Callable[[float], Tensor]) -> Tensor:
        """As the paper's listing: c = 0.1, L as it is set, and the network drawn."""
        if name == "inner.bias":
            return draw(1.0)
        return idle + {"curve": 0.1, "stretch": 1.0}.get(name, 0.0)

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor:
        c, limit = abs(self.curve.double()), abs(self.threshold * self.stretch.double())
        x = (1 + c * (i - j).clamp(min=0)).log() / ((1 + c * i.maximum(limit)).log() + EPS)
        hidden = (x[..., None] * self.inner.weight.double()[:, 0] + self.inner.bias.double()).clamp(min=0)
        return (hidden @ self.outer.weight.double().T).movedim(-1, 0)

    def spread(self, generator: Generator, slope: float) -> None:
        super().spread(generator, slope)
        self.curve.fill_(0.3)
        self.stretch.fill_(0.2)  # some queries of the proof lie beyond it
