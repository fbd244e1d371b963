"""A rotation of content in place: pairs of dimensions turn by an angle, and the gradient turns back."""

# B batch, H heads, T positions, C content width

from __future__ import annotations

from torch import Tensor
from torch.autograd import Function


def turn(x: Tensor, cosine: Tensor, sine: Tensor) -> None:
    """Turns x (B, H, T, C) in place; cosine and sine are (B or 1, 1, T, C/2), in at least float32: one rounding."""
    exact = x.to(cosine.dtype)
    left, right = exact.chunk(2, dim=-1)
    kept = left * sine
    left.mul_(cosine).addcmul_(right, sine, value=-1)
    right.mul_(cosine).add_(kept)
    if exact is not x:
        x.copy_(exact)


class Turn(Function):
    """The rotation in place; backward turns the gradient the other way and needs only the shared cosines and sines."""

    @staticmethod
    def forward(ctx, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.mark_dirty(x)
        ctx.save_for_backward(cosine, sine)
        turn(x, cosine, sine)
        return x

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        cosine, sine = ctx.saved_tensors
        grad = grad.clone()
        turn(grad, cosine, -sine)
        return grad, None, None


def turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """x itself, turned in place, with its gradient."""
    return Turn.apply(x, cosine, sine)  # type: ignore[no-any-return, no-untyped-call]
