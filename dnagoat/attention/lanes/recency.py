"""The part of a prior that prefers what is near: log-prior slope * j, which under the causal mask is ALiBi.

    key lanes   [ a_j,    b_j, 256,               a'_j,  b'_j ]     j = 512 a + b, j + 256 = 512 a' + b', all exact
    query lanes [ 512 s', s',  -slope root i/256, 512 r, r    ]     slope * root = s' + r, high and residual

The third lane is a row constant, which softmax does not see. It makes scores near the diagonal small, so that float32
keeps its digits there: large terms cancel, without rounding, before small ones are added. As its key is constant, its
query gradient is the row's residual (see `SlopeLanes`). 256 keeps it inside float16.

Some kernels (MKL's for AVX2) sum even and odd lanes apart and add the two at the end: a and b would then leave up to
256 slope in either sum, and content its digits. So where products are formed in float32 a piece is one position: a = j
and b = 0, and the terms that cancel are the first and the third, in the same sum.
"""

# H heads, T positions

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function

from dnagoat.attention.lanes.exact import STEP, high_and_residual, integer_pieces
from dnagoat.attention.schemes.base import At

LANES = 5
CONSTANT = 256.0


class SlopeLanes(Function):
    """Slopes (H,) -> query lanes (..., H, T, 5), with a backward that measures positions from the query, not from 0.

    The slope's gradient is sum_ij dZ_ij j. Rows of dZ sum to zero only up to the kernel's rounding, and far keys
    multiply what is left. The lane with a constant key returns that rest, eps_i, as its gradient, so that
    sum_j dZ_ij (j - i) = step (dq_a - a_i eps_i) + (dq_b - b_i eps_i) can be formed without it, step = 512 or 1.
    Where b jumps by 512 between neighbours, dq_a and dq_b cancel and half precision has few digits left: the residual
    lanes hold j + 256, whose jumps lie half-way, and each query takes the pair that jumps far from it.
    """

    @staticmethod
    def forward(ctx, slopes: Tensor, pieces: Tensor, root: float, step: int) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.root, ctx.step, ctx.dtype = root, step, slopes.dtype
        ctx.save_for_backward(pieces)
        steep = slopes[:, None] * root
        constant = steep * (step * pieces[..., 0] + pieces[..., 1]).unsqueeze(-2) / -CONSTANT
        high, rest = (part.expand_as(constant) for part in high_and_residual(steep))
        return torch.stack([step * high, high, constant, step * rest, rest], dim=-1)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None, None]:  # type: ignore[no-untyped-def]
        (pieces,) = ctx.saved_tensors
        a, b, shifted_a, shifted_b = pieces.unsqueeze(-3).unbind(-1)
        along_a, along_b, constant, along_shifted_a, along_shifted_b = grad.unbind(-1)
        residual = constant / CONSTANT
        plain = ctx.step * (along_a - a * residual) + (along_b - b * residual)
        shifted = ctx.step * (along_shifted_a - shifted_a * residual) + (along_shifted_b - shifted_b * residual)
        from_query = torch.where(b.abs() <= ctx.step // 4, plain, shifted)
        return (ctx.root * from_query.sum(-1).reshape(-1, grad.shape[-3]).sum(0)).to(ctx.dtype), None, None, None


def step_at(at: At, dtype: torch.dtype) -> int:
    """Positions that a piece stands for: 1 where the lanes keep 24 bits to the end, else 512."""
    return 1 if at.single and dtype in (torch.float32, torch.float64) else STEP


def pieces_at(at: At, positions: Tensor, dtype: torch.dtype) -> Tensor:
    """(..., T, 4): pieces of j and of j + step / 2, made once a forward.

    They count from the multiple of the step below the origin. From the middle of 2,048 bases a is between -2 and 2
    where the step is 512, and a kernel that rounds its partial sums to bfloat16 (PyTorch's on CPUs, every 512 keys)
    rounds dq_a and a_i eps_i alike.
    """

    step = step_at(at, dtype)

    def make(positions: Tensor) -> Tensor:
        j = positions - at.origin // step * step
        return torch.cat([integer_pieces(start, dtype, step) for start in (j, j + step // 2)], -1)

    return at.once("pieces", positions, make)


def query_lanes(slopes: Tensor, at: At, root: float) -> Tensor:
    """(..., H, T, 5)."""
    pieces, step = pieces_at(at, at.queries, slopes.dtype), step_at(at, slopes.dtype)
    return SlopeLanes.apply(slopes, pieces, root, step)  # type: ignore[no-any-return, no-untyped-call]


def key_lanes(heads: int, at: At, dtype: torch.dtype) -> Tensor:
    """(..., H, S, 5)."""
    a, b, shifted_a, shifted_b = pieces_at(at, at.keys, dtype).unbind(-1)
    lanes = torch.stack([a, b, torch.full_like(a, CONSTANT), shifted_a, shifted_b], dim=-1)
    return lanes.unsqueeze(-3).expand(*lanes.shape[:-2], heads, *lanes.shape[-2:])
