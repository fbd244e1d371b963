"""One attention layer: project, place in the sequence, attend, project back. Scheme and kernel are components."""

# B batch, T symbols, H heads, D head width, C content width

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from dnagoat.attention.biased import Bias
from dnagoat.attention.cache import Cache, kept
from dnagoat.attention.kernels import kernel_for
from dnagoat.attention.lanes.assemble import assemble, assemble_both
from dnagoat.attention.lanes.stacked import Lanes
from dnagoat.attention.normalisers import NORMALISERS
from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.attention.schemes.registry import scheme_for
from dnagoat.config import ModelConfig


def widened(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries and keys as wide as values, which a content of its own makes them not: zeros before the former's lanes
    and after the latter, up to a multiple of 8. CUDA's fused kernels take no other widths."""
    if q.shape[-1] == v.shape[-1]:
        return q, k, v
    width = -(-max(q.shape[-1], v.shape[-1]) // 8) * 8
    before, after = (width - q.shape[-1], 0), (0, width - v.shape[-1])
    return pad(q, before), pad(k, before), pad(v, after)


class Attention(nn.Module):
    """Causal self-attention; lanes of the head that positions take are not projected at all."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer, self.heads, self.head_width = layer, config.heads, config.head_width
        self.scheme = scheme_for(config, layer)
        self.normaliser = NORMALISERS[config.normaliser](config.heads)
        self.kernel = kernel_for(config.kernel, config.normaliser, self.normaliser)
        self.query = nn.Linear(config.width, config.heads * self.scheme.content, bias=False)
        self.key = nn.Linear(config.width, config.heads * self.scheme.content, bias=False)
        self.value = nn.Linear(config.width, config.width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)

    def forward(self, x: Tensor, at: At, cache: Cache | None = None) -> Tensor:
        """(B, T, width) -> (B, T, width)."""
        if torch.is_autocast_enabled(x.device.type):  # once, or each projection would keep a copy of its own
            x = x.to(torch.get_autocast_dtype(x.device.type))
        if at.lanes is not None:
            q, k = self._side_by_side(x, at, at.lanes[self.layer])
            return self._attend(q, k, self._heads(self.value(x)), True, None, at)
        q, k, v = (self._heads(part(x)) for part in (self.query, self.key, self.value))
        q, k, last = self.scheme.rotate(q, k, at, None if cache is None else cache.before[self.layer])
        q, k = self._with_lanes(q, k, at, x)
        causal, mask = cache is None or x.shape[1] > 1, None  # no symbol where lengths are traced
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)
            cache.before[self.layer] = kept(last)
            mask = cache.mask(x.shape[1])
            causal = causal and mask is None
        seen = at if cache is None else At(at.queries, cache.held(x.shape[1]))
        return self._attend(q, k, v, causal, mask, seen)

    def newest(self, x: Tensor, at: At, cache: Cache) -> Tensor:
        """As `forward` into an empty cache, at the newest symbol alone: (B, T, width) -> (B, 1, width).

        Of the last layer nothing else is ever read. As many queries are formed as its scheme takes into one.
        """
        count = 1 + self.scheme.looks_back
        at, latest = at.latest(count), x[:, -count:]
        q, k, v = self._heads(self.query(latest)), self._heads(self.key(x)), self._heads(self.value(x))
        q, k, last = self.scheme.rotate(q, k, at)
        q, k = self._with_lanes(q, k, at, latest)
        k, v = cache.extend(self.layer, k, v)
        cache.before[self.layer] = kept(last)
        return self._attend(q[..., -1:, :], k, v, False, None, at.latest(1))

    def _side_by_side(self, x: Tensor, at: At, lanes: Lanes) -> Pair:
        """Queries and keys (B, H, T, D) with their lanes, from one product; where nothing turns them, laid at once."""
        content = linear(x, torch.cat([self.query.weight, self.key.weight])).view(*x.shape[:2], 2, self.heads, -1)
        if type(self.scheme).rotate is PositionScheme.rotate:
            return assemble_both(content, *lanes)
        q, k = (side.transpose(1, 2) for side in content.unbind(2))
        q, k, _ = self.scheme.rotate(q, k, at)
        query, key = lanes.exact.unbind()
        return assemble(q, self._gated(query, x)), assemble(k, key)

    def _with_lanes(self, q: Tensor, k: Tensor, at: At, x: Tensor) -> Pair:
        """Content (B, H, T, C) with its lanes before it, (B, H, T, D), where the scheme has any; the queries are those
        of x."""
        with torch.autocast(q.device.type, enabled=False):  # a prior is small, and exact only in float32
            lanes = self.scheme.lanes_at(at)
        return (q, k) if lanes is None else (assemble(q, self._gated(lanes[0], x)), assemble(k, lanes[1]))

    def _gated(self, lanes: Tensor, x: Tensor) -> Tensor:
        """Query lanes (H, T, P), or one's own of each sequence where what it reads, x (B, T, width), dials them."""
        with torch.autocast(x.device.type, enabled=False):
            gate = self.scheme.gate(x)
        return lanes if gate is None else gate * lanes

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, causal: bool, mask: Tensor | None, at: At) -> Tensor:
        """The kernel and the projection back; `at` has the positions of q and of all k."""
        q, k, v = widened(q, k, v)
        bias = Bias(self.scheme, at) if self.scheme.biased else None
        y = self.kernel(q, k, v, 1 / self.scheme.root, causal, mask, bias)[..., : self.head_width]
        return self.out(y.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def _heads(self, x: Tensor) -> Tensor:
        """(B, T, H * C) -> (B, H, T, C)."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)
