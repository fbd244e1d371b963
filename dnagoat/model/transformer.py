"""The language model: embed, blocks of attention and MLP, norm, and the embedding again as output (tied)."""

# B batch, T symbols

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from dnagoat.attention.cache import Cache
from dnagoat.attention.lanes.stacked import lanes_of_layers
from dnagoat.attention.layer import Attention
from dnagoat.attention.schemes.base import At, single_products
from dnagoat.config import ModelConfig
from dnagoat.counts.memory.features import Features
from dnagoat.errors import OptionError
from dnagoat.model.initial import initialise
from dnagoat.model.memory import Memory

SYMBOLS = 6  # A C G T N and the start symbol


class Mlp(nn.Sequential):
    """Up, GELU, down."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.add_module("up", nn.Linear(config.width, config.mlp_width, bias=False))
        self.add_module("gelu", nn.GELU())
        self.add_module("down", nn.Linear(config.mlp_width, config.width, bias=False))


class Block(nn.Module):
    """Pre-norm: x + attention(norm x), then x + mlp(norm x)."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = Attention(config, layer)
        self.mlp_norm = nn.LayerNorm(config.width)
        self.mlp = Mlp(config)

    def forward(self, x: Tensor, at: At, cache: Cache | None = None) -> Tensor:
        x = x + self.attention(self.attention_norm(x), at, cache)
        return x + self.mlp(self.mlp_norm(x))  # type: ignore[no-any-return]


class DnaLM(nn.Module):
    """Codes in, logits over A C G T (and N, where the configuration scores it) out.

    Weights are drawn from `seed`; None leaves that to whoever loads or initialises them next.
    """

    def __init__(self, config: ModelConfig, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        self.classes: int = config.classes
        self.embedding = nn.Embedding(SYMBOLS, config.width)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
        self.norm = nn.LayerNorm(config.width)
        self.memory = Memory(config) if config.memory else None
        self.stacks_lanes = True  # off where a layer's weights are there only while it computes
        self._whole: dict[Any, At] = {}
        if seed is not None:
            initialise(self, seed)

    def forward(self, codes: Tensor, cache: Cache | None = None, features: Features | None = None) -> Tensor:
        """(B, T) codes -> (B, T, classes) logits of what comes next; with a cache, codes follow what it holds.

        `features` are what memory says; without them a model with memory looks it up. An `OptionError` names the reach
        of the position scheme where the codes go past it.
        """
        count = codes.shape[1]
        self._check_reach(count if cache is None else cache.capacity)
        at = self._positions(count, codes.device) if cache is None else cache.at(count)
        if self.memory is not None and features is None:
            features, read = self.memory.look_up(codes, None if cache is None else cache.memory)
            if cache is not None:
                cache.memory = read
        x = self.embed(codes, at, features)
        for block in self.blocks:
            x = block(x, at, cache)
        if cache is not None:
            cache.advance(count)
        return self.logits(x, features)

    def _positions(self, count: int, device: torch.device) -> At:
        """Positions 0 to count - 1, with the lanes of all layers.

        What is made of positions alone is kept for the next training step of the same length.
        """
        weights = self.embedding.weight.dtype
        at = None
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():  # a compiled graph makes it itself
            key = count, device, weights, single_products(device, weights)
            if key not in self._whole:
                self._whole = {key: At.whole(count, device, weights)}
            at = self._whole[key].again()
        at = at or At.whole(count, device, weights)
        if self.stacks_lanes:
            half = torch.is_autocast_enabled(device.type)
            dtype = torch.get_autocast_dtype(device.type) if half else weights
            at.lanes = lanes_of_layers([attention.scheme for attention in self.attentions()], at, dtype)
        return at

    def embed(self, codes: Tensor, at: At, features: Features | None) -> Tensor:
        """(B, T) codes -> (B, T, width), what the first block reads."""
        x = self.embedding(codes)
        if self.memory is not None and features is not None:
            x = x + self.memory.embed(features)
        return self.blocks[0].attention.scheme.embed(x, at)  # type: ignore[union-attr, operator, no-any-return]

    def logits(self, x: Tensor, features: Features | None) -> Tensor:
        """(B, T, width), what the last block wrote -> (B, T, classes)."""
        hidden = self.norm(x)
        logits = nn.functional.linear(hidden, self.embedding.weight[: self.classes])
        if self.memory is not None and features is not None:
            logits = logits + self.memory.logits(hidden, features)
        return logits

    def hidden(self, codes: Tensor, depth: int) -> Tensor:
        """(B, T) codes -> (B, T, width), what block number `depth` wrote, from 1; of 0, what the first one reads."""
        self._check_reach(codes.shape[1])
        at = At.whole(codes.shape[1], codes.device)
        features = None if self.memory is None else self.memory.look_up(codes)[0]
        x = self.embed(codes, at, features)
        for block in self.blocks[:depth]:
            x = block(x, at)
        return x

    def read(self, codes: Tensor, cache: Cache) -> None:
        """Takes codes (B, T) into an empty cache and predicts nothing: the last block makes keys and values alone."""
        *blocks, last = self.blocks
        self._check_reach(cache.capacity)
        at = cache.at(codes.shape[1])
        features = None
        if self.memory is not None:
            features, cache.memory = self.memory.look_up(codes, cache.memory)
        x = self.embed(codes, at, features)
        for block in blocks:
            x = block(x, at, cache)
        last.attention.newest(last.attention_norm(x), at, cache)  # type: ignore[union-attr, operator]
        cache.advance(codes.shape[1])

    def _check_reach(self, positions: int) -> None:
        for attention in self.attentions():
            reach = attention.scheme.reach
            if reach is not None and positions > reach:
                name = self.config.position.name
                raise OptionError(
                    f"{positions:,} positions are more than the {reach:,} that {name} holds exactly; take fewer"
                )

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def attentions(self) -> Iterator[Attention]:
        for block in self.blocks:
            yield block.attention  # type: ignore[misc]

    def position_parameters(self) -> dict[str, nn.Parameter]:
        """Parameters of schemes and normalisers by name: they take their own learning rate and no weight decay."""
        return {n: p for n, p in self.named_parameters() if ".scheme." in n or ".normaliser." in n}

    def memory_parameters(self) -> dict[str, nn.Parameter]:
        """What weighs one source of memory or one level of a vote, by name: own learning rate, no weight decay.

        The matrices of memory are not among them: they read some two hundred inputs of several nats, so that a higher
        rate makes their sums jump.
        """
        own = {} if self.memory is None else dict(self.memory.named_parameters(recurse=False))
        return {f"memory.{name}": parameter for name, parameter in own.items()}

    def constrain(self) -> None:
        """Puts the prior's parameters back where they are allowed to be; call after each optimizer step."""
        for attention in self.attentions():
            attention.scheme.constrain()

    def set_step(self, step: int) -> None:
        """Tells what ramps (momentum) how many optimizer steps have been taken."""
        for attention in self.attentions():
            attention.scheme.set_step(step)
