"""Position lanes of all layers in one pass: as many operations as one layer takes, whatever the number of layers.

On a GPU a small operation costs what its launch costs, and lanes are small: they have no batch.
"""

# L layers, H heads, T positions, P lanes

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.wrapper import innermost

BYTES = 128 << 20  # of the lanes of all layers; where they are more, each layer makes its own while it computes


class Lanes(NamedTuple):
    """A layer's lanes of queries and keys, (2, H, T, P): `exact` has the gradient, `rounded` the content's dtype."""

    exact: Tensor
    rounded: Tensor


def lanes_of_layers(schemes: Sequence[PositionScheme], at: At, dtype: torch.dtype) -> list[Lanes] | None:
    """The lanes of each layer, `dtype` that of content; None where layers have none, or make their own."""
    inner = [innermost(scheme) for scheme in schemes]
    first = inner[0]
    size = 2 * len(inner) * first.heads * len(at.keys) * first.lanes * torch.finfo(torch.float32).bits // 8
    if not first.lanes or size > BYTES or any(type(scheme) is not type(first) for scheme in inner):
        return None
    with torch.autocast(at.keys.device.type, enabled=False):  # a prior is small, and exact only in float32
        made = type(first).lanes_of(inner, at)
    assert made is not None, "a scheme that has lanes makes them"
    exact = torch.stack(made, dim=1)
    return [Lanes(*one) for one in zip(exact.unbind(), exact.detach().to(dtype).unbind(), strict=True)]


def stack(layers: Sequence[Sequence[Mapping[str, Tensor]]]) -> list[dict[str, Tensor]]:
    """Weights of each part of each layer -> of each part, with a leading L: one copy, and one of the gradients."""
    first = layers[0]
    places = [(part, name) for part, weights in enumerate(first) for name in weights]
    every = [layer[part][name] for part, name in places for layer in layers]
    shapes = [(len(layers), *first[part][name].shape) for part, name in places]
    pieces = torch.split(torch.cat([weight.flatten() for weight in every]), [prod(shape) for shape in shapes])
    found: list[dict[str, Tensor]] = [{} for _ in first]
    for (part, name), piece, shape in zip(places, pieces, shapes, strict=True):
        found[part][name] = piece.view(shape)
    return found
