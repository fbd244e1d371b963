"""What a trained model loses when one part of its position scheme is switched off: causal evidence, at inference."""

# B batch, T queries, S keys, H heads, P lanes

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.attention.schemes.goat import Goat
from dnagoat.attention.schemes.parts import Part
from dnagoat.attention.schemes.rope import BiasedRope, Rope
from dnagoat.attention.schemes.wrapper import Wrapper, innermost
from dnagoat.config import ModelConfig
from dnagoat.model.transformer import DnaLM

MOMENTUM, CONVOLUTION = "momentum", "convolution"
ROTATION, EMBEDDING, BIAS = "rotation", "position embedding", "bias"
ROTATING, EMBEDDED, BIASED = {"rope", "rope+bias", "goat+rope"}, {"sinusoidal"}, {"alibi", "rope+bias"}


class MutePart(Part):
    """A part whose lanes are there, for the head's width is fixed, and say nothing."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part, self.lanes = part, part.lanes

    def query(self, at: At, root: float) -> Tensor:
        return torch.zeros_like(self.part.query(at, root))

    def key(self, at: At, root: float) -> Tensor:
        return self.part.key(at, root)


class Mute(PositionScheme):
    """A scheme of which only some doors are open: embedding, rotation or lanes."""

    def __init__(self, scheme: PositionScheme, config: ModelConfig, closed: str) -> None:
        super().__init__(config, scheme.layer)
        self.scheme, self.lanes, self.closed = scheme, scheme.lanes, closed

    def embed(self, x: Tensor, at: At) -> Tensor:
        return x if self.closed == EMBEDDING else self.scheme.embed(x, at)

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        if self.closed == ROTATION:  # with it go biases, which it made a kernel
            return q, k, None
        if self.closed == BIAS and isinstance(self.scheme, BiasedRope):
            return Rope.rotate(self.scheme, q, k, at, before)
        return self.scheme.rotate(q, k, at, before)

    def lanes_at(self, at: At) -> Pair | None:
        lanes = self.scheme.lanes_at(at)
        return lanes if lanes is None or self.closed != BIAS else (torch.zeros_like(lanes[0]), lanes[1])


def parts_of(config: ModelConfig) -> list[str]:
    """What can be switched off in a model of this configuration; empty for one that has no positions."""
    position = config.position
    parts: list[str] = list(position.goat.parts) if position.name.startswith("goat") else []
    parts += [BIAS] if position.name in BIASED else []
    parts += [ROTATION] if position.name in ROTATING else []
    parts += [EMBEDDING] if position.name in EMBEDDED else []
    parts += [MOMENTUM] if position.momentum is not None else []
    return parts + ([CONVOLUTION] if position.convolution is not None else [])


@contextmanager
def without(model: DnaLM, part: str) -> Iterator[None]:
    """Inside the block the model works without `part`, one of `parts_of`; afterwards it is as it was."""
    schemes = [attention.scheme for attention in model.attentions()]
    kept = [dict(_parts(scheme).items()).get(part) for scheme in schemes]
    for attention in model.attentions():
        attention.scheme = _muted(attention.scheme, model.config, part)
    try:
        yield
    finally:
        for attention, scheme, whole in zip(model.attentions(), schemes, kept, strict=True):
            attention.scheme = scheme
            if whole is not None:
                _parts(scheme)[part] = whole


def _parts(scheme: PositionScheme) -> torch.nn.ModuleDict | dict[str, torch.nn.Module]:
    inner = innermost(scheme)
    return inner.parts if isinstance(inner, Goat) else {}


def _muted(scheme: PositionScheme, config: ModelConfig, part: str) -> PositionScheme:
    if part in (MOMENTUM, CONVOLUTION):
        return innermost(scheme)
    parts = _parts(scheme)
    if part in parts:
        parts[part] = MutePart(parts[part])  # type: ignore[arg-type]
        return scheme
    if isinstance(scheme, Wrapper):
        around = copy(scheme)  # the same taps or strength, around another scheme
        around._modules = {**scheme._modules, "inner": Mute(scheme.inner, config, part)}
        return around
    return Mute(scheme, config, part)
