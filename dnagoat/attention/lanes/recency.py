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
    """Slopes (..., H) -> query lanes (..., H, T, 5); backward measures positions from the query, not from 0.

    The slope's gradient is sum_ij dZ_ij j. Rows of dZ sum to zero only up to the kernel's rounding, and far keys
    multiply what is left. The lane with a constant key returns that rest, eps_i, as its gradient, so that
    sum_j dZ_ij (j - i) = step (dq_a - a_i eps_i) + (dq_b - b_i eps_i) can be formed without it, step = 512 or 1.
    Where b jumps by 512 between neighbours, dq_a and dq_b cancel and half precision has few digits left: the residual
    lanes hold j + 256, whose jumps lie half-way, and each query takes the pair that jumps far from it: that is what
    `along` (..., T, 5) multiplies a query's gradient with. Five products are summed before any are summed over queries.
    """

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        ctx, slopes: Tensor, constants: Tensor, along: Tensor, root: float, step: int
    ) -> Tensor:
        ctx.root, ctx.shape, ctx.dtype = root, slopes.shape, slopes.dtype
        ctx.save_for_backward(along)
        steep = slopes[..., None] * root
        constant = steep * constants.unsqueeze(-2)
        high, rest = high_and_residual(steep)
        parts = (high if step == 1 else step * high, high, constant, rest if step == 1 else step * rest, rest)
        return torch.stack([part.expand_as(constant) for part in parts], dim=-1)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None, None, None]:  # type: ignore[no-untyped-def]
        (along,) = ctx.saved_tensors
        from_query = (grad * along.unsqueeze(-3)).sum(-1)
        slopes = ctx.root * from_query.sum(-1).sum_to_size(ctx.shape)
        return slopes.to(ctx.dtype), None, None, None, None


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
    """(..., H, T, 5) of slopes (..., H)."""
    step = step_at(at, slopes.dtype)

    def make(positions: Tensor) -> tuple[Tensor, Tensor]:
        """What the third lane is of a slope, (..., T), and what a slope's gradient is of those of its lanes."""
        a, b, shifted_a, shifted_b = pieces_at(at, positions, slopes.dtype).unbind(-1)
        constant, shifted = (step * high + rest for high, rest in ((a, b), (shifted_a, shifted_b)))
        near = (b.abs() <= step // 4).to(slopes.dtype)
        far = 1 - near
        residual = torch.where(near > 0, constant, shifted) / -CONSTANT
        return constant / -CONSTANT, torch.stack([step * near, near, residual, step * far, far], dim=-1)

    constants, along = at.once("slopes", at.queries, make)
    return SlopeLanes.apply(slopes, constants, along, root, step)  # type: ignore[no-any-return, no-untyped-call]


def key_lanes(at: At, dtype: torch.dtype) -> Tensor:
    """(..., 1, S, 5), the same for all heads."""

    def make(positions: Tensor) -> Tensor:
        a, b, shifted_a, shifted_b = pieces_at(at, positions, dtype).unbind(-1)
        return torch.stack([a, b, torch.full_like(a, CONSTANT), shifted_a, shifted_b], dim=-1).unsqueeze(-3)

    return at.once("slope keys", at.keys, make)
