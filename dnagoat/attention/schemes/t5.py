"""T5's relative bias (arXiv 1910.10683): a learned number for each head and bucket of distances.

Half of the buckets are a distance each, the others grow logarithmically up to `longest`; the last holds what is beyond.
Only what lies behind has buckets: keys ahead are masked. T5 shares one table among its layers; here each has its own.
"""

# H heads, T queries, S keys, N buckets

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.settings import Option, Settings

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import ModelConfig


class T5Settings(Settings):
    buckets: Annotated[int, Option("t5-buckets", "Buckets of distances, half of them a distance each.")] = Field(
        32, ge=4, le=512, multiple_of=2
    )
    longest: Annotated[int, Option("t5-longest", "Bases from which on all distances share a bucket.")] = Field(
        128, le=2**20
    )

    @model_validator(mode="after")
    def _grow(self) -> Self:
        if self.longest <= self.buckets // 2:
            raise ValueError(f"longest is more than half of the {self.buckets} buckets, which are a distance each")
        return self


class T5(PositionScheme):
    settings = T5Settings
    colours = ("#9c6cfc", "#7248d8")
    learned = True
    firsts: Tensor  # (N - 1,) where every bucket but the first begins

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        import torch
        from torch import nn

        super().__init__(config, layer)
        own = self.settings_as(T5Settings)
        self.register_buffer("firsts", torch.tensor(firsts(own.buckets, own.longest)), persistent=False)
        self.table = nn.Parameter(torch.zeros(own.buckets, self.heads))

    def bias(self, at: At) -> Tensor:
        import torch

        behind = at.queries[..., :, None] - at.keys[..., None, :]
        return torch.nn.functional.embedding(torch.bucketize(behind, self.firsts, right=True), self.table).movedim(
            -1, -3
        )

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor:
        own, behind = self.settings_as(T5Settings), (i - j).clamp(min=0)
        exact = own.buckets // 2
        grown = (behind / exact).log() / math.log(own.longest / exact) * (own.buckets - exact)
        bucket = (exact + grown.floor()).clamp(max=own.buckets - 1).where(behind >= exact, behind)
        return self.table.double()[bucket.long()].movedim(-1, 0)


def firsts(buckets: int, longest: int) -> list[int]:
    """The first distance of every bucket but the first, by whole numbers alone: no logarithm rounds at a border."""
    half, found, distance = buckets // 2, list(range(1, buckets // 2 + 1)), buckets // 2
    for step in range(1, buckets - half):  # half * log(d / half) / log(longest / half) >= step
        while distance**half * half**step < half**half * longest**step:
            distance += 1
        found.append(distance)
    return found
