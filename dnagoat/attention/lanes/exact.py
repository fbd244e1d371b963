"""Numbers that survive bfloat16: integers in exact pieces, smooth values in a high and a residual lane.

bfloat16 has 8 significant bits and float16 ends at 65,504. A position is 512 a + b with -256 <= b < 256: each piece is
an integer of at most 8 bits, exact in bfloat16, float16 and TF32, while a <= 256.
"""

from __future__ import annotations

import torch
from torch import Tensor

STEP = 512
EXACT = 256 * STEP  # positions that are exact, and stay so with half a step added


def integer_pieces(positions: Tensor, dtype: torch.dtype, step: int = STEP) -> Tensor:
    """(..., T) integer positions -> (..., T, 2): how many times `step`, and the signed rest."""
    high = (positions + step // 2) // step
    return torch.stack([high, positions - high * step], dim=-1).to(dtype)


def high_and_residual(x: Tensor) -> tuple[Tensor, Tensor]:
    """x = high + residual, high exact in bfloat16; the gradient flows through the residual alone, unrounded."""
    high = x.detach().bfloat16().to(x.dtype)
    return high, x - high
