"""What every scheme must compute, written out plainly in float64: no lanes, no fused kernel, no cleverness.

The log-prior is a T x S matrix here, formed from the parameters themselves by the formulas of the papers, which each
scheme has in its own file (`exact_prior`, `exact_content`); attention forms it as a product of lanes. Tests and
`dnagoat info --self-test` compare the two.
"""

# B batch, T queries, S keys, H heads, D head width, C content width

from __future__ import annotations

import math

import torch
from torch import Tensor

from dnagoat.attention.layer import Attention
from dnagoat.attention.schemes.base import PositionScheme


def log_prior(scheme: PositionScheme, queries: Tensor, keys: Tensor) -> Tensor:
    """(H, T, S) float64: K_ij by its formula, differentiable in the scheme's parameters."""
    i, j = queries.double()[:, None], keys.double()[None, :]
    return scheme.exact_prior(i, j) + i.new_zeros(scheme.heads, len(queries), len(keys))


def attend(scheme: PositionScheme, q: Tensor, k: Tensor, v: Tensor, gate: Tensor | float = 1.0) -> Tensor:
    """q, k (B, H, T, C) and v (B, H, T, D), float64 -> (B, H, T, D): causal softmax(q k' / sqrt(C) + gate K) v."""
    positions = torch.arange(q.shape[-2], device=q.device)
    q, k = scheme.exact_content(q, positions, "query"), scheme.exact_content(k, positions, "key")
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + gate * log_prior(scheme, positions, positions)
    seen = positions[:, None] >= positions[None, :]
    return scores.masked_fill(~seen, -math.inf).softmax(-1) @ v


def attention(layer: Attention, x: Tensor) -> Tensor:
    """(B, T, width) float64 -> (B, T, width), what the layer must give (softmax only)."""
    q, k, v = (
        (x @ part.weight.double().T).view(*x.shape[:2], layer.heads, -1).transpose(1, 2)
        for part in (layer.query, layer.key, layer.value)
    )
    return (
        attend(layer.scheme, q, k, v, layer.scheme.exact_gate(x)).transpose(1, 2).flatten(2)
        @ layer.out.weight.double().T
    )
