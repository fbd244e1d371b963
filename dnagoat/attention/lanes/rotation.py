"""A rotation of content: pairs of dimensions turn by an angle, and the gradient turns back."""

# B batch, H heads, T positions, C content width

from __future__ import annotations

from torch import Tensor
from torch.autograd import Function


def turn(x: Tensor, cosine: Tensor, sine: Tensor, way: int = 1) -> Tensor:
    """x (B, H, T, C), turned, or turned back where `way` is -1; cosine and sine are (B or 1, 1, T, C/2) in at least
    float32, and so there is one rounding."""
    half = x.shape[-1] // 2
    pairs = x.view(*x.shape[:-1], 2, half)
    exact = pairs * cosine.unsqueeze(-2)  # as wide as cosine: half precision is multiplied as float32
    exact[..., 0, :].addcmul_(pairs[..., 1, :], sine, value=-way)
    exact[..., 1, :].addcmul_(pairs[..., 0, :], sine, value=way)
    return exact.flatten(-2).to(x.dtype)


class Turn(Function):
    """The rotation; backward turns the gradient the other way and needs only the shared cosines and sines."""

    @staticmethod
    def forward(ctx, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(cosine, sine)
        return turn(x, cosine, sine)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        cosine, sine = ctx.saved_tensors
        return turn(grad, cosine, sine, way=-1), None, None


def turned(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """x turned, with its gradient."""
    return Turn.apply(x, cosine, sine)  # type: ignore[no-any-return, no-untyped-call]
