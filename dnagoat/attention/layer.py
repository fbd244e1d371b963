"""One attention layer: project, place in the sequence, attend, project back. Scheme and kernel are components."""

# B batch, T symbols, H heads, D head width, C content width

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from dnagoat.attention.cache import Cache, kept
from dnagoat.attention.kernels import kernel_for
from dnagoat.attention.lanes.assemble import assemble
from dnagoat.attention.normalisers import NORMALISERS
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.registry import scheme_for
from dnagoat.config import ModelConfig


def padded(*sides: Tensor) -> tuple[Tensor, ...]:
    """Each (B, H, T, D) with zeros after its last dimension up to the widest; as they are where all are as wide."""
    widest = max(side.shape[-1] for side in sides)
    return tuple(side if side.shape[-1] == widest else pad(side, (0, widest - side.shape[-1])) for side in sides)


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
        q, k, v = (self._heads(part(x)) for part in (self.query, self.key, self.value))
        q, k, last = self.scheme.rotate(q, k, at, None if cache is None else cache.before[self.layer])
        with torch.autocast(x.device.type, enabled=False):  # a prior is small, and exact only in float32
            lanes = self.scheme.lanes_at(at)
        if lanes is not None:
            q, k = assemble(q, lanes[0]), assemble(k, lanes[1])
        causal, mask = x.shape[1] > 1, None
        if cache is not None:
            k, v = cache.extend(self.layer, k, v)
            cache.before[self.layer] = kept(last)
            mask = cache.mask(x.shape[1])
            causal = causal and mask is None
        return self._attend(q, k, v, causal, mask)

    def newest(self, x: Tensor, at: At, cache: Cache) -> Tensor:
        """As `forward` into an empty cache, at the newest symbol alone: (B, T, width) -> (B, 1, width).

        Of the last layer nothing else is ever read. As many queries are formed as its scheme takes into one.
        """
        count = 1 + self.scheme.looks_back
        at = at.latest(count)
        q, k, v = self._heads(self.query(x[:, -count:])), self._heads(self.key(x)), self._heads(self.value(x))
        q, k, last = self.scheme.rotate(q, k, at)
        lanes = self.scheme.lanes_at(at)
        if lanes is not None:
            q, k = assemble(q, lanes[0]), assemble(k, lanes[1])
        k, v = cache.extend(self.layer, k, v)
        cache.before[self.layer] = kept(last)
        return self._attend(q[..., -1:, :], k, v, False, None)

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, causal: bool, mask: Tensor | None) -> Tensor:
        """The kernel and the projection back. Fused kernels want one width for all three, so the narrower gets zeros
        where a content of its own makes queries and keys another than values."""
        q, k, v = padded(q, k, v)
        y = self.kernel(q, k, v, 1 / self.scheme.root, causal, mask)[..., : self.head_width]
        return self.out(y.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def _heads(self, x: Tensor) -> Tensor:
        """(B, T, H * C) -> (B, H, T, C)."""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)
