"""What weights start as: each parameter is drawn from its own stream, keyed by (seed, parameter name).

So two arms that share a parameter's name share its start, whatever else they have. A narrower query or key projection
takes the leading rows of each head of the full-width draw. The numbers come from numpy's Philox, on any device alike.
"""

# H heads, D head width, C content width

from __future__ import annotations

import math
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dnagoat.attention.schemes.base import PositionScheme
from dnagoat.attention.schemes.wrapper import Wrapper
from dnagoat.config import ModelConfig

if TYPE_CHECKING:
    from dnagoat.model.transformer import DnaLM

SD = 0.02


def stream(seed: int, name: str) -> np.random.Generator:
    """The random numbers of one parameter."""
    key = int.from_bytes(sha256(f"{seed}/{name}".encode()).digest()[:16], "little")
    return np.random.Generator(np.random.Philox(key=key))


def normal(seed: int, name: str, shape: tuple[int, ...], sd: float) -> Tensor:
    return torch.from_numpy(stream(seed, name).standard_normal(shape, dtype=np.float32) * np.float32(sd))


@torch.no_grad()
def initialise(model: DnaLM, seed: int) -> None:
    """Sets every parameter; the same seed gives the same bits on every device."""
    config = model.config
    for name, parameter in model.named_parameters():
        if not parameter.is_meta:  # a model that is only counted holds no numbers
            parameter.copy_(_start(model, seed, name, parameter, config))


def _start(model: DnaLM, seed: int, name: str, parameter: Tensor, config: ModelConfig) -> Tensor:
    owner = model.get_submodule(name.rpartition(".")[0])
    shape = tuple(parameter.shape)
    if ".scheme." in name:
        return _position(model, seed, name, owner, shape)
    if ".normaliser." in name:
        return torch.zeros(shape)
    if name.startswith("memory."):
        return memory_start(seed, name, parameter)
    if isinstance(owner, torch.nn.LayerNorm):
        return torch.ones(shape) if name.endswith(".weight") else torch.zeros(shape)
    if name.endswith((".query.weight", ".key.weight")):
        whole = normal(seed, name, (config.heads, config.head_width, config.width), SD)
        content = shape[0] // config.heads
        return whole[:, :content].reshape(shape)
    # Residual branches are summed 2 x layers times (GPT-2).
    last = name.endswith((".out.weight", ".down.weight"))
    return normal(seed, name, shape, SD / math.sqrt(2 * config.layers) if last else SD)


def memory_start(seed: int, name: str, parameter: Tensor) -> Tensor:
    """At first the experts are averaged: gates are equal, and what changes them, or is added, is 0."""
    if name.endswith(("memory.levels", "memory.prior", "memory.gates")):
        return parameter.detach().clone()
    if name.endswith(("gate.weight", "outer.weight", ".bias")):
        return torch.zeros_like(parameter)
    shape = tuple(parameter.shape)
    return normal(seed, name, shape, SD if name.endswith("embedding.weight") else 1 / math.sqrt(shape[1]))


def _position(model: DnaLM, seed: int, name: str, owner: torch.nn.Module, shape: tuple[int, ...]) -> Tensor:
    """Where a scheme says that its parameter starts; linear maps are drawn, as wide as what they read."""
    before, _, after = name.partition(".scheme.")
    scheme = model.get_submodule(f"{before}.scheme")
    assert isinstance(scheme, PositionScheme)
    while isinstance(scheme, Wrapper) and after.startswith("inner."):
        scheme, after = scheme.inner, after.removeprefix("inner.")
    name = f"{before}.scheme.{after}"  # what is put around a scheme does not change its start
    drawn = isinstance(owner, torch.nn.Linear) and after.endswith(".weight")
    idle = normal(seed, name, shape, 1 / math.sqrt(shape[1])) if drawn else torch.zeros(shape)
    return scheme.start(after, idle, lambda sd: normal(seed, name, shape, sd))


__all__ = ["initialise", "normal", "stream"]
