"""Causal attention on a CPU in strips of queries, each with the keys up to its own end and no others.

PyTorch's CPU kernel leaves out what a causal mask hides by whole blocks of 512 keys (ATen/native/cpu/
FlashAttentionKernel.cpp): at 512 bases it does twice the work that is needed. Above the lengths in `SIZES` it gains
more from many queries at once than it wastes (benchmarks/strips.py).
"""

# B batch, H heads, T positions, D head width

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

# dtype -> queries of a strip, the most positions at which strips pay. Strips divide 512: no row of a mask then meets a
# block of keys that is hidden as a whole, of which the kernel would make nan.
SIZES = {torch.float32: (128, 2_048), torch.bfloat16: (256, 512)}
CACHED = 1 << 20  # bytes of the queries that a thread works on
# The operators that scaled_dot_product_attention calls; another PyTorch may have none of that name.
_attend: Any = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
_attend_backward: Any = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu_backward", None)


def pay(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether strips are the faster way to attend causally, (B, H, T, D) each, and the operators take these tensors."""
    strip, longest = SIZES.get(q.dtype, (0, 0))
    return (
        _attend is not None
        and q.device.type == "cpu"
        and strip < q.shape[-2] <= longest
        and q.dtype == k.dtype == v.dtype
        and q.shape == k.shape == v.shape
        and all(x.stride(-1) == 1 for x in (q, k, v))
        and not torch.compiler.is_compiling()  # every strip of every layer would be a node of the graph
    )


class Strips(Function):
    """q, k, v (B, H, T, D) -> (B, H, T, D); keeps what the whole kernel would keep."""

    @staticmethod
    def forward(ctx, q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:  # type: ignore[no-untyped-def]
        out, logs = torch.empty_like(v), q.new_empty(q.shape[:-1], dtype=torch.float32)  # logs: logsumexp of scores
        band = _band(q)
        for batch in _batches(q):
            for start, end in _strips(q):
                rows, keys = (batch, slice(None), slice(start, end)), (batch, slice(None), slice(end))
                out[rows], logs[rows] = _attend(
                    q[rows], k[keys], v[keys], attn_mask=_mask(band, start, end), scale=scale
                )
        ctx.save_for_backward(q, k, v, out, logs)
        ctx.scale = scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:  # type: ignore[no-untyped-def]
        q, k, v, out, logs = ctx.saved_tensors
        dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
        band = _band(q)
        for batch in _batches(q):
            totals: list[Tensor] = []
            for start, end in reversed(list(_strips(q))):  # the last strip has all keys: the others add to it
                rows, keys = (batch, slice(None), slice(start, end)), (batch, slice(None), slice(end))
                dq[rows], *parts = _attend_backward(
                    grad[rows],
                    q[rows],
                    k[keys],
                    v[keys],
                    out[rows],
                    logs[rows],
                    0.0,
                    False,
                    attn_mask=_mask(band, start, end),
                    scale=ctx.scale,
                )
                totals = totals or parts
                if parts is not totals:
                    for total, part in zip(totals, parts, strict=True):
                        total[..., :end, :] += part
            dk[batch], dv[batch] = totals
        return dq, dk, dv, None


def attend(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Causal softmax(q k' scale) v, (B, H, T, D), on a CPU."""
    return Strips.apply(q, k, v, scale)  # type: ignore[no-any-return, no-untyped-call]


def _batches(q: Tensor) -> Iterator[slice]:
    """As many sequences at once as stay in the cache while the strips' gradients of keys and values are summed."""
    size = max(1, q.shape[1:].numel() * q.element_size())
    count = max(1, CACHED * torch.get_num_threads() // size)
    for first in range(0, len(q), count):
        yield slice(first, first + count)


def _strips(q: Tensor) -> Iterator[tuple[int, int]]:
    strip, length = SIZES[q.dtype][0], q.shape[-2]
    for start in range(0, length, strip):
        yield start, min(start + strip, length)


def _band(q: Tensor) -> Tensor:
    """(strip, T + strip): row i is 0 up to column T + i, so that every strip's mask is a slice of it."""
    strip, length = SIZES[q.dtype][0], q.shape[-2]
    return torch.full((strip, length + strip), -math.inf, dtype=q.dtype, device=q.device).triu_(length + 1)


def _mask(band: Tensor, start: int, end: int) -> Tensor:
    """(T, S) added to scores of queries start to end over keys 0 to end: -inf at the keys ahead of each."""
    length = band.shape[1] - band.shape[0]
    return band[: end - start, length - start : length - start + end]


__all__ = ["SIZES", "attend", "pay"]
