"""Causal attention on a CPU in strips of queries, each with the keys up to its own end and no others.

PyTorch's CPU kernel leaves out what a causal mask hides by whole blocks of 512 keys (ATen/native/cpu/
FlashAttentionKernel.cpp): at 512 bases it does twice the work that is needed. Strips are faster up to lengths where
that matters less than the kernel's taste for many queries at once, sooner in bfloat16 (benchmarks/strips.py).
"""

# B batch, H heads, T positions, D head width

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

# dtype -> queries of a strip, the most positions at which strips pay
SIZES = {torch.float32: (128, 2_048), torch.bfloat16: (256, 512)}
CACHED = 1 << 20  # bytes of queries
_attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_attend_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def pays(q: Tensor) -> bool:
    """Whether strips are the faster way to attend causally with these queries."""
    strip, longest = SIZES.get(q.dtype, (0, 0))
    return q.device.type == "cpu" and strip < q.shape[-2] <= longest


class Strips(Function):
    """q, k, v (B, H, T, D) -> (B, H, T, D); keeps what the whole kernel would keep."""

    @staticmethod
    def forward(ctx, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:  # type: ignore[no-untyped-def]
        out, sums = torch.empty_like(v), q.new_empty(q.shape[:-1], dtype=torch.float32)
        for batch in _batches(q):
            for start, end in _strips(q):
                rows, keys = (batch, slice(None), slice(start, end)), (batch, slice(None), slice(end))
                out[rows], sums[rows] = _attend(
                    q[rows], k[keys], v[keys], attn_mask=_mask(q.dtype, start, end), scale=scale
                )
        ctx.save_for_backward(q, k, v, out, sums)
        ctx.scale = scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        q, k, v, out, sums = ctx.saved_tensors
        dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
        for batch in _batches(q):
            whole: list[Tensor] = []
            for start, end in reversed(list(_strips(q))):  # the last strip has all keys: the others add to it
                rows, keys = (batch, slice(None), slice(start, end)), (batch, slice(None), slice(end))
                dq[rows], *ours = _attend_backward(
                    grad[rows],
                    q[rows],
                    k[keys],
                    v[keys],
                    out[rows],
                    sums[rows],
                    0.0,
                    False,
                    attn_mask=_mask(q.dtype, start, end),
                    scale=ctx.scale,
                )
                whole = whole or ours
                if ours is not whole:
                    for total, part in zip(whole, ours, strict=True):
                        total[..., :end, :] += part
            dk[batch], dv[batch] = whole
        return dq, dk, dv, None


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Causal softmax(q k' scale) v, (B, H, T, D), on a CPU."""
    return Strips.apply(q, k, v, scale)  # type: ignore[no-any-return, no-untyped-call]


def _batches(q: Tensor) -> Iterator[slice]:
    """As many sequences at once as stay in the cache while the strips' gradients of keys and values are summed."""
    count = max(1, CACHED // (q[0].numel() * q.element_size()))
    for first in range(0, len(q), count):
        yield slice(first, first + count)


def _strips(q: Tensor) -> Iterator[tuple[int, int]]:
    strip, length = SIZES[q.dtype][0], q.shape[-2]
    for start in range(0, length, strip):
        yield start, min(start + strip, length)


def _mask(dtype: torch.dtype, start: int, end: int) -> Tensor:
    """(T, S) added to scores of queries start to end over keys 0 to end: -inf at the keys ahead of each."""
    longest = SIZES[dtype][1]
    return _band(dtype)[: end - start, longest - start : longest - start + end]


@cache
def _band(dtype: torch.dtype) -> Tensor:
    """(strip, longest + strip): row i is 0 up to column longest + i, so that every strip's mask is a slice of it."""
    strip, longest = SIZES[dtype]
    ahead = torch.ones(strip, longest + strip, dtype=torch.bool).triu(longest + 1)
    return torch.zeros(ahead.shape, dtype=dtype).masked_fill(ahead, float("-inf"))


__all__ = ["SIZES", "attend", "pays"]
