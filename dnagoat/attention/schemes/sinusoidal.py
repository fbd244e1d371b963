"""The sinusoids of "Attention Is All You Need" (arXiv 1706.03762), added to the embeddings."""

# B batch, T positions

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dnagoat.attention.schemes.base import At, PositionScheme

if TYPE_CHECKING:
    from torch import Tensor


class Sinusoidal(PositionScheme):
    """Embeddings times sqrt(width), as there, plus sines in the first half and cosines in the second."""

    unseen = "positions"
    colours = ("#ca6499", "#c37ebd")

    def embed(self, x: Tensor, at: At) -> Tensor:
        import torch

        from dnagoat.attention.lanes.sinusoids import ladder, waves

        width = x.shape[-1]
        cosine, sine = waves(at.queries, ladder(width // 2, 10_000.0, x.device), x.dtype)
        return x * math.sqrt(width) + torch.cat([sine, cosine], dim=-1)
