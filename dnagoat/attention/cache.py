"""What decoding keeps between calls: keys (position lanes folded in) and values of every layer, allocated once."""

# L layers, B batch, H heads, S capacity, D head width

from __future__ import annotations

from copy import copy
from typing import Any

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, Pair
from dnagoat.attention.schemes.registry import scheme_for
from dnagoat.config import ModelConfig
from dnagoat.errors import OptionError


def kept(pair: Pair | None) -> Pair | None:
    """What a scheme hands on, copied: it may be a view of all of a layer's queries, or of what is written over next."""
    return None if pair is None else (pair[0].clone(), pair[1].clone())


def key_width(config: ModelConfig) -> int:
    """Dimensions of a head's queries and keys, position lanes included; nothing is allocated to count them."""
    if config.content is None:
        return config.head_width
    with torch.device("meta"):
        return config.content + scheme_for(config, 0).lanes


class Cache:
    """Room for `capacity` symbols of `batch` sequences; `length` of them are filled."""

    def __init__(
        self,
        config: ModelConfig,
        batch: int,
        capacity: int,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        shape = (config.layers, batch, config.heads, capacity)
        self.k = torch.empty(*shape, key_width(config), device=device, dtype=dtype)
        self.v = torch.empty(*shape, config.head_width, device=device, dtype=dtype)
        self.before: list[Pair | None] = [None] * config.layers  # what a scheme mixes into the next query and key
        self.memory: Any = None  # what a model with memory has read so far
        self.capacity, self.length = capacity, 0

    def at(self, count: int) -> At:
        """Positions of the next `count` symbols."""
        if self.length + count > self.capacity:
            raise OptionError(f"{self.length + count:,} symbols do not fit in a cache of {self.capacity:,}")
        return At(torch.arange(self.length, self.length + count, device=self.k.device))

    def held(self, count: int) -> Tensor:
        """Positions of all keys once the next `count` symbols are there."""
        return torch.arange(self.length + count, device=self.k.device)

    def mask(self, count: int) -> Tensor | None:
        """(1, 1, T, S), True where a new symbol may see; None where one causal pass or no mask does."""
        if self.length == 0 or count == 1:
            return None
        end = self.length + count
        return torch.ones(count, end, dtype=torch.bool, device=self.k.device).tril(self.length)[None, None]

    def extend(self, layer: int, k: Tensor, v: Tensor) -> Pair:
        """Writes the new rows (B, H, T, D) and returns all rows so far (B, H, S, D), as views."""
        end = self.length + k.shape[-2]
        self.k[layer, :, :, self.length : end] = k
        self.v[layer, :, :, self.length : end] = v
        return self.k[layer, :, :, :end], self.v[layer, :, :, :end]

    def branched(self, repeats: int, room: int) -> Cache:
        """A copy with each sequence `repeats` times over, one after the other, and room for `room` more symbols.

        What memory has read goes along as it is: its model can repeat it.
        """
        other = copy(self)
        other.capacity = self.length + room
        other.k, other.v = (self._branched(held, repeats, other.capacity) for held in (self.k, self.v))
        other.before = [
            None if pair is None else (pair[0].repeat_interleave(repeats, 0), pair[1].repeat_interleave(repeats, 0))
            for pair in self.before
        ]
        return other

    def _branched(self, held: Tensor, repeats: int, capacity: int) -> Tensor:
        layers, batch, heads, _, width = held.shape
        wide = held.new_empty(layers, batch, repeats, heads, capacity, width)
        wide[..., : self.length, :] = held[:, :, None, :, : self.length]
        return wide.flatten(1, 2)

    def advance(self, count: int) -> None:
        """Called once a forward, after the last layer."""
        self.length += count
