"""Position lanes, then content, side by side in one head, by an autograd function that saves nothing.

Lanes come first: large terms that cancel do so before content is added, and content keeps its digits.
"""

# B batch, H heads, T positions, C content width, P lanes, D = C + P

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import Function


class Assemble(Function):
    """content (B, H, T, C), lanes (H, T, P) or (B, H, T, P) -> (B, H, T, D) in the content's dtype."""

    @staticmethod
    def forward(ctx, content: Tensor, lanes: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        batch, heads, length, width = content.shape
        ctx.count, ctx.shared, ctx.dtype = lanes.shape[-1], lanes.dim() == 3, lanes.dtype
        whole = content.new_empty(batch, length, heads, width + lanes.shape[-1]).transpose(1, 2)
        count = lanes.shape[-1]
        whole[..., :count] = lanes
        whole[..., count:] = content
        return whole

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor | None]:  # type: ignore[no-untyped-def]
        lanes, content = grad[..., : ctx.count], grad[..., ctx.count :]
        if not ctx.needs_input_grad[1]:
            return content, None
        return content, lanes.sum(0, dtype=ctx.dtype) if ctx.shared else lanes.to(ctx.dtype)


class AssembleBoth(Function):
    """content of queries and keys (B, T, 2, H, C), exact and rounded lanes (2, H, T, P) -> queries and keys
    (B, H, T, D) in the content's dtype; the gradient is that of the exact lanes, summed as they are."""

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        ctx, content: Tensor, exact: Tensor, rounded: Tensor
    ) -> tuple[Tensor, Tensor]:
        ctx.count, ctx.dtype = exact.shape[-1], exact.dtype
        shared = rounded.permute(2, 0, 1, 3).expand(*content.shape[:-1], -1)
        queries, keys = torch.cat([shared, content], dim=-1).unbind(2)
        return queries.transpose(1, 2), keys.transpose(1, 2)

    @staticmethod
    def backward(ctx, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        sides = (queries, keys)
        lanes = queries.new_empty(2, *queries.shape[1:-1], ctx.count, dtype=ctx.dtype)
        for side, place in zip(sides, lanes.unbind(), strict=True):
            torch.sum(side[..., : ctx.count], 0, dtype=ctx.dtype, out=place)
        return torch.stack([side[..., ctx.count :].transpose(1, 2) for side in sides], dim=2), lanes, None


def assemble_both(content: Tensor, exact: Tensor, rounded: Tensor) -> tuple[Tensor, Tensor]:
    """(B, T, 2, H, C) and twice (2, H, T, P) -> queries and keys, (B, H, T, C + P) each."""
    return AssembleBoth.apply(content, exact, rounded)  # type: ignore[no-any-return, no-untyped-call]


def assemble(content: Tensor, lanes: Tensor) -> Tensor:
    """(B, H, T, C) and (…, H, T, P) -> (B, H, T, C + P)."""
    return Assemble.apply(content, lanes)  # type: ignore[no-any-return, no-untyped-call]
