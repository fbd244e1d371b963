"""How scores become weights: softmax, sparsemax (arXiv 1602.02068) or alpha-entmax (arXiv 1905.05702).

A log-prior enters the sparse ones as a linear reward: it is added to the scores as it is.
"""

# B batch, H heads, T queries, S keys

from __future__ import annotations

from collections.abc import Callable

import entmax
import torch
from torch import Tensor, nn


class Softmax(nn.Module):
    def forward(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1)


class Sparsemax(nn.Module):
    def forward(self, scores: Tensor) -> Tensor:
        return entmax.sparsemax(scores, dim=-1)  # type: ignore[no-any-return]


class Entmax15(nn.Module):
    def forward(self, scores: Tensor) -> Tensor:
        return entmax.entmax15(scores, dim=-1)  # type: ignore[no-any-return]


class Entmax(nn.Module):
    """alpha-entmax with a learned alpha = 1 + sigmoid(shape) a head (arXiv 1909.00015), 1.5 at the start."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.shape = nn.Parameter(torch.zeros(heads))

    def forward(self, scores: Tensor) -> Tensor:
        alpha = (1 + self.shape.to(scores.dtype).sigmoid())[:, None, None]
        return entmax.entmax_bisect(scores, alpha.expand(*scores.shape[:-1], 1), dim=-1)  # type: ignore[no-any-return]


NORMALISERS: dict[str, Callable[[int], nn.Module]] = {
    "softmax": lambda heads: Softmax(),
    "sparsemax": lambda heads: Sparsemax(),
    "entmax15": lambda heads: Entmax15(),
    "entmax": Entmax,
}
