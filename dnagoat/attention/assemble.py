"""Content and position lanes side by side in one head, by an autograd function that saves nothing."""

# B batch, H heads, T positions, C content width, P lanes, D = C + P

from __future__ import annotations

from torch import Tensor
from torch.autograd import Function


class Assemble(Function):
    """content (B, H, T, C), lanes (H, T, P) or (B, H, T, P) -> (B, H, T, D) in the content's dtype."""

    @staticmethod
    def forward(ctx, content: Tensor, lanes: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        batch, heads, length, width = content.shape
        ctx.width, ctx.shared, ctx.dtype = width, lanes.dim() == 3, lanes.dtype
        whole = content.new_empty(batch, length, heads, width + lanes.shape[-1]).transpose(1, 2)
        whole[..., :width] = content
        whole[..., width:] = lanes
        return whole

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor | None]:  # type: ignore[no-untyped-def]
        content, lanes = grad[..., : ctx.width], grad[..., ctx.width :]
        if not ctx.needs_input_grad[1]:
            return content, None
        return content, lanes.sum(0, dtype=ctx.dtype) if ctx.shared else lanes.to(ctx.dtype)


def assemble(content: Tensor, lanes: Tensor) -> Tensor:
    """(B, H, T, C) and (…, H, T, P) -> (B, H, T, C + P)."""
    return Assemble.apply(content, lanes)  # type: ignore[no-any-return, no-untyped-call]
