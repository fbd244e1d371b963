"""Position lanes, then content, side by side in one head, by an autograd function that saves nothing.

Lanes come first: large terms that cancel do so before content is added, and content keeps its digits.
"""

# B batch, H heads, T positions, C content width, P lanes, D = C + P

from __future__ import annotations

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


def assemble(content: Tensor, lanes: Tensor) -> Tensor:
    """(B, H, T, C) and (…, H, T, P) -> (B, H, T, C + P)."""
    return Assemble.apply(content, lanes)  # type: ignore[no-any-return, no-untyped-call]
