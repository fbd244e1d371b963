"""The part of a prior that prefers what is near: log-prior slope * j, which under the causal mask is ALiBi.

    key lanes   [ a_j,    256,              b_j, a_j,   b_j ]          j = 512 a + b, exact in every precision
    query lanes [ 512 s', -slope root i/256, s', 512 r, r   ]          slope * root = s' + r, high and residual

The second lane is a row constant, which softmax does not see. It makes scores near the diagonal small, so that float32
keeps its digits there: with it first in the head and content last, every partial sum of a near key is small too. As its
key is constant, its query gradient is the row's residual (see `SlopeLanes`). 256 keeps it inside float16.
"""

# H heads, T positions

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function

from dnagoat.attention.pieces import STEP, high_and_residual, integer_pieces
from dnagoat.attention.positions import At

LANES = 5
CONSTANT = 256.0


class SlopeLanes(Function):
    """Slopes (H,) -> query lanes (..., H, T, 5), with a backward that measures positions from the query, not from 0.

    The slope's gradient is sum_ij dZ_ij j. Rows of dZ sum to zero only up to the kernel's rounding, and far keys
    multiply what is left. The lane with a constant key returns that rest, eps_i, as its gradient, so that
    sum_j dZ_ij (j - i) = 512 (dq_a - a_i eps_i) + (dq_b - b_i eps_i) can be formed without it.
    """

    @staticmethod
    def forward(ctx, slopes: Tensor, pieces: Tensor, root: float) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.root, ctx.dtype = root, slopes.dtype
        ctx.save_for_backward(pieces)
        steep = slopes[:, None] * root
        high, rest = high_and_residual(steep.expand(-1, pieces.shape[-2]))
        constant = steep * (pieces @ pieces.new_tensor([STEP, 1.0])).unsqueeze(-2) / -CONSTANT
        high, rest = high.expand_as(constant), rest.expand_as(constant)
        return torch.stack([STEP * high, constant, high, STEP * rest, rest], dim=-1)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        (pieces,) = ctx.saved_tensors
        a, b = pieces.unsqueeze(-3).unbind(-1)
        _, constant, _, along_a, along_b = grad.unbind(-1)
        residual = constant / CONSTANT
        from_query = STEP * (along_a - a * residual) + (along_b - b * residual)
        return (ctx.root * from_query.sum(-1).reshape(-1, grad.shape[-3]).sum(0)).to(ctx.dtype), None, None


def pieces_at(at: At, positions: Tensor, dtype: torch.dtype) -> Tensor:
    """(..., T, 2), made once a forward."""
    return at.once("pieces", positions, lambda p: integer_pieces(p, dtype))


def query_lanes(slopes: Tensor, at: At, root: float) -> Tensor:
    """(..., H, T, 5)."""
    return SlopeLanes.apply(slopes, pieces_at(at, at.queries, slopes.dtype), root)  # type: ignore[no-any-return, no-untyped-call]


def key_lanes(heads: int, at: At, dtype: torch.dtype) -> Tensor:
    """(..., H, S, 5)."""
    a, b = pieces_at(at, at.keys, dtype).unbind(-1)
    lanes = torch.stack([a, torch.full_like(a, CONSTANT), b, a, b], dim=-1)
    return lanes.unsqueeze(-3).expand(*lanes.shape[:-2], heads, *lanes.shape[-2:])
