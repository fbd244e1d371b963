"""What attention does inside a model: scores, log-prior and weights of every layer, seen from its kernel's place."""

# B batch, T = S positions, H heads, C content width, D head width

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from dnagoat.attention.biased import Bias
from dnagoat.attention.kernels import Kernel
from dnagoat.attention.layer import Attention
from dnagoat.attention.schemes.base import At, Pair
from dnagoat.evaluation.microscope.anatomy import causal as visible
from dnagoat.model.transformer import DnaLM


@dataclass(frozen=True)
class Seen:
    """One layer in one forward pass, causal; all in float64."""

    layer: int
    content: Tensor  # (B, H, T, S) nats, without the prior
    prior: Tensor  # (B, H, T, S) nats, up to a constant a row; B is 1 unless a gate dials it
    weights: Tensor  # (B, H, T, S)
    key_norms: Tensor  # (B, H, S) length of the content key
    allowed: Tensor  # (T, S)


@contextmanager
def observing(model: DnaLM, look: Callable[[Seen], None]) -> Iterator[None]:
    """Inside the block every layer of every full forward pass is shown to `look`; quadratic in the length.

    The model computes what it computes otherwise, from the very weights that are shown.
    """
    kernels = [attention.kernel for attention in model.attentions()]
    for attention in model.attentions():
        attention.kernel = _showing(attention, look)
    try:
        yield
    finally:
        for attention, kernel in zip(model.attentions(), kernels, strict=True):
            attention.kernel = kernel


def _showing(attention: Attention, look: Callable[[Seen], None]) -> Kernel:
    def kernel(
        q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, mask: Tensor | None, bias: Bias | None = None
    ) -> Tensor:
        assert mask is None, "a pass with a cache is not observed"
        lanes = q.shape[-1] - attention.scheme.content  # they stand before the content, see `assemble`
        query_bias, key_bias = _biases(attention, q[:1, ..., lanes:])
        biases = query_bias @ key_bias.mT
        content = (q[..., lanes:].double() @ k[..., lanes:].double().mT - biases) * scale
        rows = slice(None if attention.scheme.gated else 1)
        prior = (q[rows, ..., :lanes].double() @ k[:1, ..., :lanes].double().mT + biases) * scale
        if bias is not None:
            prior = prior + bias.block().double()
        allowed = visible(q.shape[-2], k.shape[-2], q.device)
        scores = (content + prior).masked_fill(~allowed, torch.finfo(torch.float64).min / 4)
        weights = attention.normaliser(scores)
        key_norms = (k[..., lanes:].double() - key_bias).norm(dim=-1)
        look(Seen(attention.layer, content, prior, weights, key_norms, allowed))
        mixed: Tensor = weights @ v.double()
        return mixed.to(v.dtype)

    return kernel


def _biases(attention: Attention, like: Tensor) -> Pair:
    """What the scheme makes of queries and keys (1, H, T, C) without content: 0, or biases, turned and sheared."""
    nothing = torch.zeros_like(like, dtype=torch.float64)
    at = At(torch.arange(like.shape[-2], device=like.device))
    query, key, _ = attention.scheme.rotate(nothing, nothing.clone(), at)
    return query, key
