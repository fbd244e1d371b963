"""The part of a prior that prefers what is near: log-prior slope * j, which under the causal mask is ALiBi.

key lanes   [ a_j, b_j, a_j, b_j, 1 ]                     j = 512 a + b, exact in every precision
query lanes [ 512 s', s', 512 r, r, 0 ]                   slope * root = s' + r, a high and a residual value
"""

# H heads, T positions

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function

from dnagoat.attention.pieces import STEP, high_and_residual, integer_pieces
from dnagoat.attention.positions import At

LANES = 5


class SlopeLanes(Function):
    """Slopes (H,) -> query lanes (..., H, T, 5), with a backward that measures positions from the query, not from 0.

    The slope's gradient is sum_ij dZ_ij j. Rows of dZ sum to zero only up to the kernel's rounding, and far keys
    multiply what is left. The lane with query 0 and key 1 returns that rest, eps_i, as its gradient, so that
    sum_j dZ_ij (j - i) = 512 (dq_a - a_i eps_i) + (dq_b - b_i eps_i) can be formed without it.
    """

    @staticmethod
    def forward(ctx, slopes: Tensor, pieces: Tensor, root: float) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.root, ctx.dtype = root, slopes.dtype
        ctx.save_for_backward(pieces)
        high, rest = high_and_residual(slopes * root)
        lanes = torch.stack([STEP * high, high, STEP * rest, rest, torch.zeros_like(high)], dim=-1)
        return lanes[:, None].expand(*pieces.shape[:-2], len(slopes), pieces.shape[-2], LANES)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        (pieces,) = ctx.saved_tensors
        a, b = pieces.unsqueeze(-3).unbind(-1)
        _, _, along_a, along_b, residual = grad.unbind(-1)
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
    pieces = pieces_at(at, at.keys, dtype)
    lanes = torch.cat([pieces, pieces, torch.ones_like(pieces[..., :1])], dim=-1)
    return lanes.unsqueeze(-3).expand(*lanes.shape[:-2], heads, *lanes.shape[-2:])
