"""What every scheme must compute, written out plainly in float64: no lanes, no fused kernel, no cleverness.

The log-prior is formed here as a T x S matrix from the parameters themselves, by the formulas of the papers; the
schemes form it as a product of lanes. Tests and `dnagoat info --self-test` compare the two.
"""

# B batch, T queries, S keys, H heads, D head width, C content width

from __future__ import annotations

import math

import torch
from torch import Tensor

from dnagoat.attention.layer import Attention
from dnagoat.attention.schemes.alibi import Alibi, alibi_slopes
from dnagoat.attention.schemes.authors import AuthorsRecency, AuthorsSink
from dnagoat.attention.schemes.base import PositionScheme
from dnagoat.attention.schemes.convolution import Convolution
from dnagoat.attention.schemes.goat import Goat, RotatedGoat
from dnagoat.attention.schemes.momentum import Momentum
from dnagoat.attention.schemes.parts import Recency, Sink, Spectral
from dnagoat.attention.schemes.rope import BiasedRope, Rope
from dnagoat.attention.schemes.wrapper import Wrapper


def log_prior(scheme: PositionScheme, queries: Tensor, keys: Tensor) -> Tensor:
    """(H, T, S) float64: K_ij by its formula, differentiable in the scheme's parameters."""
    i, j = queries.double()[:, None], keys.double()[None, :]
    prior = torch.zeros(scheme.heads, len(queries), len(keys), dtype=torch.float64, device=queries.device)
    if isinstance(scheme, Wrapper):
        return log_prior(scheme.inner, queries, keys)
    if isinstance(scheme, Alibi):
        return prior - alibi_slopes(scheme.heads).to(i.device)[:, None, None] * (i - j).abs()
    if isinstance(scheme, Goat):
        for part in scheme.parts.values():
            if isinstance(part, Spectral):
                angles = part.frequencies.to(i.device)[:, None, None] * (i - j)
                prior = prior + torch.einsum("hr,rts->hts", part.even.double(), angles.cos())
                prior = prior + torch.einsum("hr,rts->hts", part.odd.double(), angles.sin())
            if isinstance(part, Sink):
                prior = prior + _sink(part, keys)[:, None, :]
            if isinstance(part, Recency):
                prior = prior + part.slopes.double()[:, None, None] * j
            if isinstance(part, AuthorsRecency):
                prior = prior + part.raw.double().exp().log1p()[:, None, None] * j
    return prior


def _sink(part: Sink, keys: Tensor) -> Tensor:
    """(H, S): gain * network(features of j) + first * [j = 0]."""
    j = keys.double()
    angles = j[:, None] * part.frequencies.to(j.device)
    scaled = [j / part.context, torch.log(1 + j) / math.log(1 + part.context)]
    features = torch.cat([angles.cos(), angles.sin(), torch.stack(scaled, -1)], dim=-1)
    inner = features @ part.inner.weight.double().T + part.inner.bias.double()
    if isinstance(part, AuthorsSink):
        shape = inner / (1 + torch.exp(-inner)) @ part.outer.weight.double()[0] + part.outer.bias.double()
    else:
        shape = torch.tanh(inner) @ part.outer.weight.double()[0]
    return part.gain.double()[:, None] * shape + part.first.double()[:, None] * (j == 0)


def rope_ladder(width: int, base: float) -> Tensor:
    """Radians a base of pair c, base^(-2c/C)."""
    return base ** (-2 * torch.arange(width // 2).double() / width)


def rotated(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """RoPE as a complex product: x_c + i x_(c + C/2) times exp(i position w_c)."""
    half = x.shape[-1] // 2
    angles = positions.double()[:, None] * frequencies.to(x.device)
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)


def sheared(x: Tensor, strength: float) -> Tensor:
    """x_t + g (x_t - x_(t-1)), x_0 as it is."""
    return torch.cat([x[..., :1, :], x[..., 1:, :] + strength * (x[..., 1:, :] - x[..., :-1, :])], dim=-2)


def filtered(x: Tensor, taps: Tensor) -> Tensor:
    """x_t + sum_n taps[n] x_(t-1-n), with 0 before the first."""
    y = x.clone()
    for n in range(taps.shape[1]):
        y[..., n + 1 :, :] += taps[:, n, None].double() * x[..., : x.shape[-2] - n - 1, :]
    return y


def content(scheme: PositionScheme, x: Tensor, positions: Tensor, side: str) -> Tensor:
    """(B, H, T, C) projected queries or keys (`side`) -> what the score is the product of."""
    if isinstance(scheme, Momentum):
        return sheared(content(scheme.inner, x, positions, side), float(scheme.strength))
    if isinstance(scheme, Convolution):
        return content(scheme.inner, filtered(x, getattr(scheme, f"{side}_taps")), positions, side)
    if isinstance(scheme, RotatedGoat):
        return rotated(x, positions, rope_ladder(x.shape[-1], scheme.rope.base))
    if isinstance(scheme, BiasedRope):
        ladder = rope_ladder(x.shape[-1] - 2 * len(scheme.own), scheme.base)
        biased = x + getattr(scheme, f"{side}_bias").double()[:, None]
        return rotated(biased, positions, torch.cat([scheme.own, ladder]))
    return rotated(x, positions, rope_ladder(x.shape[-1], scheme.base)) if isinstance(scheme, Rope) else x


def attend(scheme: PositionScheme, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q, k (B, H, T, C) and v (B, H, T, D), float64 -> (B, H, T, D): causal softmax(q k' / sqrt(C) + K) v."""
    positions = torch.arange(q.shape[-2], device=q.device)
    q, k = content(scheme, q, positions, "query"), content(scheme, k, positions, "key")
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + log_prior(scheme, positions, positions)
    seen = positions[:, None] >= positions[None, :]
    return scores.masked_fill(~seen, -math.inf).softmax(-1) @ v


def attention(layer: Attention, x: Tensor) -> Tensor:
    """(B, T, width) float64 -> (B, T, width), what the layer must give (softmax only)."""
    heads = [
        (x @ part.weight.double().T).view(*x.shape[:2], layer.heads, -1).transpose(1, 2)
        for part in (layer.query, layer.key, layer.value)
    ]
    return attend(layer.scheme, *heads).transpose(1, 2).flatten(2) @ layer.out.weight.double().T
