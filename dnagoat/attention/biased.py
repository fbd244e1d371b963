"""Attention whose scores carry a bias that is no product of lanes: softmax(q k' scale + B) v (T5, FIRE).

B is formed a block at a time. On a CPU a strip of queries meets the keys up to its end: scores, bias and weights of one
strip are there at a time, in backward too, where they are made again. On CUDA it is PyTorch's flex attention.
"""

# B batch, H heads, T queries, S keys, D head width

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from dnagoat.attention.schemes.base import At, PositionScheme

STRIP = 64  # queries
ALL = slice(None)


class Bias:
    """What a scheme adds to the scores of queries and keys `at` their positions, formed where it is needed."""

    def __init__(self, scheme: PositionScheme, at: At) -> None:
        self.scheme, self.at = scheme, at

    def block(self, queries: slice = ALL, keys: slice = ALL) -> Tensor:
        """(H, t, s), or with a leading B, of some queries and some keys."""
        with torch.autocast(self.at.keys.device.type, enabled=False):  # small, and exact only in float32
            bias = self.scheme.bias(At(self.at.queries[..., queries], self.at.keys[..., keys]))
        assert bias is not None, "a scheme that is `biased` gives a bias"
        return bias


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    causal: bool,
    mask: Tensor | None,
    bias: Bias,
    normalise: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(-1),
) -> Tensor:
    """(B, H, T, D), in at least float32, strip by strip; any normaliser, any device."""
    count, parts = q.shape[-2], []
    for start in range(0, count, STRIP):
        end = min(start + STRIP, count)
        seen = end if causal else k.shape[-2]
        part = None if mask is None else mask[..., start:end, :]
        ahead = start if causal else None
        given = (q[..., start:end, :], k[..., :seen, :], v[..., :seen, :], scale, ahead, part, bias, start, normalise)
        if torch.is_grad_enabled():
            parts.append(checkpoint(_strip, *given, use_reentrant=False, preserve_rng_state=False))
        else:
            parts.append(_strip(*given))
    return torch.cat(parts, dim=-2)


def _strip(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    ahead: int | None,
    mask: Tensor | None,
    bias: Bias,
    start: int,
    normalise: Callable[[Tensor], Tensor],
) -> Tensor:
    """Queries from `start` on; keys more than `ahead` positions after the first of them, and its own, are hidden."""
    precise = torch.promote_types(q.dtype, torch.float32)
    with torch.autocast(q.device.type, enabled=False):
        scores = q.to(precise) @ k.to(precise).transpose(-1, -2) * scale
        scores = scores + bias.block(slice(start, start + q.shape[-2]), slice(0, k.shape[-2])).to(precise)
        if ahead is not None:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(ahead)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(precise).min / 4)
        return (normalise(scores) @ v.to(precise)).to(v.dtype)


def flex(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    causal: bool,
    mask: Tensor | None,
    bias: Bias,
    call: Callable[..., Any] | None = None,
) -> Tensor:
    """The same by flex attention, whose memory beside the bias grows with the length; softmax only.

    `call` is what stands for the compiled routine where that cannot be had.
    """
    added = bias.block()

    def score(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + (added[h, i, j] if added.dim() == 3 else added[b, h, i, j])

    visible = _masked(mask)
    if causal and mask is None:
        make = _causal if torch.compiler.is_compiling() else _visible  # a graph makes it itself
        visible = make(q.shape[-2], k.shape[-2], q.device)
    return (call or _routine())(q, k, v, score_mod=score, block_mask=visible, scale=scale)  # type: ignore[no-any-return]


def _routine() -> Callable[..., Any]:
    """Flex attention: compiled by itself, or with the graph that it is in."""
    from torch.nn.attention.flex_attention import flex_attention

    routine: Callable[..., Any] = flex_attention
    return routine if torch.compiler.is_compiling() else _compiled(routine)


@cache
def _compiled(routine: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(routine)


def _causal(queries: int, keys: int, device: torch.device) -> Any:
    """Which blocks a causal pass reads."""
    from torch.nn.attention.flex_attention import create_block_mask

    return create_block_mask(lambda b, h, i, j: i >= j, None, None, queries, keys, device=device)


_visible = cache(_causal)  # made once a length


def _masked(mask: Tensor | None) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    if mask is None:
        return None
    queries, keys = mask.shape[-2:]
    return create_block_mask(lambda b, h, i, j: mask[0, 0, i, j], None, None, queries, keys, device=mask.device)
