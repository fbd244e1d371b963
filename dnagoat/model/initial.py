"""What weights start as: each parameter is drawn from its own stream, keyed by (seed, parameter name).

So two arms that share a parameter's name share its start, whatever else they have. A narrower query or key projection
takes the leading rows of each head of the full-width draw. The numbers come from numpy's Philox, on any device alike.
"""

# H heads, D head width, C content width

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dnagoat.attention.lanes.waves import frequencies
from dnagoat.attention.schemes.alibi import alibi_slopes
from dnagoat.attention.schemes.authors import raw_of
from dnagoat.attention.schemes.distances import distances, peak_biases, peaks
from dnagoat.config import GoatForm, ModelConfig

if TYPE_CHECKING:
    from dnagoat.model.transformer import DnaLM

SD = 0.02
SEEDED_SD = 0.01
AUTHORS_SD = 1e-3


def stream(seed: int, name: str) -> np.random.Generator:
    """The random numbers of one parameter."""
    key = int.from_bytes(sha256(f"{seed}/{name}".encode()).digest()[:16], "little")
    return np.random.Generator(np.random.Philox(key=key))


def normal(seed: int, name: str, shape: tuple[int, ...], sd: float) -> Tensor:
    return torch.from_numpy(stream(seed, name).standard_normal(shape, dtype=np.float32) * np.float32(sd))


def uniform_prior(seed: int, name: str, start: Tensor, config: ModelConfig) -> Tensor:
    """K = 0 exactly, plain attention at step 0; the sink's network is drawn, its gain is 0."""
    return start


def seeded_prior(seed: int, name: str, start: Tensor, config: ModelConfig) -> Tensor:
    """As the authors start: ALiBi's slopes, a ~ N(0, 0.01), everything else as `uniform`."""
    if name.endswith(".slopes"):
        return alibi_slopes(config.heads).to(start)
    return normal(seed, name, tuple(start.shape), SEEDED_SD) if name.endswith(".even") else start


def distances_prior(seed: int, name: str, start: Tensor, config: ModelConfig) -> Tensor:
    """Each head's spectral part, or RoPE's biases, peaks at a distance of its own; slopes as ALiBi's, the rest 0."""
    goat = config.position.goat
    if name.endswith(".slopes"):  # the farther a head looks, the flatter: a steep one would hide its peak
        return alibi_slopes(config.heads).sort(descending=True).values.to(start)
    if not name.endswith((".even", ".odd", ".query_bias", ".key_bias")):
        return start
    chosen = goat.distances or distances(config.layers, config.heads)
    layer = int(name.split(".")[1])
    if name.endswith("_bias"):
        query, key = peak_biases(chosen[layer], frequencies(goat), goat.amplitude, start.shape[-1])
        return (query if name.endswith(".query_bias") else key).to(start)
    even, odd = peaks(chosen[layer], frequencies(goat), goat.amplitude)
    return (even if name.endswith(".even") else odd).to(start)


Strategy = Callable[[int, str, Tensor, ModelConfig], Tensor]
# name of GoatConfig.init -> (seed, parameter name, its value at K = 0, configuration) -> where it starts
PRIORS: dict[str, Strategy] = {"uniform": uniform_prior, "seeded": seeded_prior, "distances": distances_prior}


def own_prior(seed: int, name: str, start: Tensor, config: ModelConfig) -> Tensor:
    return PRIORS[config.position.goat.init](seed, name, start, config)


def authors_prior(seed: int, name: str, start: Tensor, config: ModelConfig) -> Tensor:
    """The same in the authors' form, as their module draws it: gain 1 before a sink's network that is all but 0."""
    init = config.position.goat.init
    if name.endswith((".inner.weight", ".outer.weight")):
        flat = init == "uniform" and name.endswith(".outer.weight")
        return torch.zeros_like(start) if flat else normal(seed, name, tuple(start.shape), AUTHORS_SD)
    if name.endswith(".gain"):
        return torch.ones_like(start)
    if name.endswith(".raw"):
        return raw_of(own_prior(seed, name.replace(".raw", ".slopes"), start, config))
    return own_prior(seed, name, start, config)


FORMS: dict[GoatForm, Strategy] = {"own": own_prior, "authors": authors_prior}


@torch.no_grad()
def initialise(model: DnaLM, seed: int) -> None:
    """Sets every parameter; the same seed gives the same bits on every device."""
    config = model.config
    for name, parameter in model.named_parameters():
        if not parameter.is_meta:  # a model that is only counted holds no numbers
            parameter.copy_(_start(model, seed, name, parameter, config))


def _start(model: DnaLM, seed: int, name: str, parameter: Tensor, config: ModelConfig) -> Tensor:
    owner = model.get_submodule(name.rpartition(".")[0])
    name = name.replace(".scheme.inner.", ".scheme.")  # what is put around a scheme does not change its start
    shape = tuple(parameter.shape)
    if ".scheme." in name or ".normaliser." in name:
        fan = owner.in_features if isinstance(owner, torch.nn.Linear) else None
        drawn = fan is not None and name.endswith(".weight")
        start = normal(seed, name, shape, 1 / math.sqrt(fan)) if fan and drawn else owner_zero(name, parameter)
        return FORMS[config.position.goat.form](seed, name, start, config)
    if name.startswith("memory."):
        return memory_start(seed, name, parameter, config)
    if isinstance(owner, torch.nn.LayerNorm):
        return torch.ones(shape) if name.endswith(".weight") else torch.zeros(shape)
    if name.endswith((".query.weight", ".key.weight")):
        whole = normal(seed, name, (config.heads, config.head_width, config.width), SD)
        content = shape[0] // config.heads
        return whole[:, :content].reshape(shape)
    # Residual branches are summed 2 x layers times (GPT-2).
    last = name.endswith((".out.weight", ".down.weight"))
    return normal(seed, name, shape, SD / math.sqrt(2 * config.layers) if last else SD)


def memory_start(seed: int, name: str, parameter: Tensor, config: ModelConfig) -> Tensor:
    """At first the experts are averaged: gates are equal, and what changes them, or is added, is 0."""
    if name.endswith(("memory.levels", "memory.prior", "memory.gates")):
        return parameter.detach().clone()
    if name.endswith(("gate.weight", "outer.weight", ".bias")):
        return torch.zeros_like(parameter)
    shape = tuple(parameter.shape)
    return normal(seed, name, shape, SD if name.endswith("embedding.weight") else 1 / math.sqrt(shape[1]))


def owner_zero(name: str, parameter: Tensor) -> Tensor:
    """Where a prior's parameter is without effect: frequencies stay as they were made, the rest is 0."""
    return parameter.detach().clone() if name.endswith(".learned") else torch.zeros_like(parameter)


__all__ = ["PRIORS", "initialise", "normal", "stream"]
