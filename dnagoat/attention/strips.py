"""Causal attention on a CPU in strips of queries, each with the keys up to its own end and no others.

PyTorch's CPU kernel leaves out what a causal mask hides by whole blocks of 512 keys (ATen/native/cpu/
FlashAttentionKernel.cpp): at 512 bases it does twice the work that is needed. In float32 strips are faster up to a few
thousand bases; its bfloat16 kernel likes long rows better (benchmarks/strips.py).
"""

# B batch, H heads, T positions, D head width

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

STRIP = 128
LONGEST = 2_048
_attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_attend_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def pays(q: Tensor) -> bool:
    """Whether strips are the faster way to attend causally with these queries."""
    return q.device.type == "cpu" and q.dtype is torch.float32 and STRIP < q.shape[-2] <= LONGEST


class Strips(Function):
    """q, k, v (B, H, T, D) -> (B, H, T, D); keeps what the whole kernel would keep."""

    @staticmethod
    def forward(ctx, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:  # type: ignore[no-untyped-def]
        out, sums = torch.empty_like(v), q.new_empty(q.shape[:-1])
        for start, end in _strips(q.shape[-2]):
            out[..., start:end, :], sums[..., start:end] = _attend(
                q[..., start:end, :], k[..., :end, :], v[..., :end, :], attn_mask=_mask(start, end), scale=scale
            )
        ctx.save_for_backward(q, k, v, out, sums)
        ctx.scale = scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        q, k, v, out, sums = ctx.saved_tensors
        dq = torch.empty_like(q)
        whole: list[Tensor] = []
        for start, end in reversed(list(_strips(q.shape[-2]))):  # the last strip has all keys: the others add to it
            rows = (slice(None), slice(None), slice(start, end))
            dq[rows], *ours = _attend_backward(
                grad[rows],
                q[rows],
                k[..., :end, :],
                v[..., :end, :],
                out[rows],
                sums[rows],
                0.0,
                False,
                attn_mask=_mask(start, end),
                scale=ctx.scale,
            )
            whole = whole or ours
            if ours is not whole:
                for total, part in zip(whole, ours, strict=True):
                    total[..., :end, :] += part
        return dq, whole[0], whole[1], None


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Causal softmax(q k' scale) v, (B, H, T, D) in float32 on a CPU."""
    return Strips.apply(q, k, v, scale)  # type: ignore[no-any-return, no-untyped-call]


def _strips(length: int) -> Iterator[tuple[int, int]]:
    for start in range(0, length, STRIP):
        yield start, min(start + STRIP, length)


def _mask(start: int, end: int) -> Tensor:
    """(T, S) added to scores of queries start to end over keys 0 to end: -inf at the keys ahead of each."""
    return _band()[: end - start, LONGEST - start : LONGEST - start + end]


@cache
def _band() -> Tensor:
    """(STRIP, LONGEST + STRIP): row i is 0 up to column LONGEST + i, so that every strip's mask is a slice of it."""
    ahead = torch.ones(STRIP, LONGEST + STRIP, dtype=torch.bool).triu(LONGEST + 1)
    return torch.zeros(ahead.shape).masked_fill(ahead, float("-inf"))


__all__ = ["attend", "pays"]
