"""A scheme with something done to queries and keys on top; what it does not change it leaves to the scheme inside."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

from torch import Generator, Tensor

from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.config import ModelConfig


class Wrapper(PositionScheme):
    """Base of what goes around a scheme; a subclass overrides `rotate` and has a name as a part."""

    name: ClassVar[str]

    def __init__(self, inner: PositionScheme, config: ModelConfig) -> None:
        super().__init__(config, inner.layer)
        self.inner = inner
        self.lanes, self.reach, self.unseen = inner.lanes, inner.reach, inner.unseen
        self.gated = inner.gated

    def embed(self, x: Tensor, at: At) -> Tensor:
        return self.inner.embed(x, at)

    def lanes_at(self, at: At) -> Pair | None:
        return self.inner.lanes_at(at)

    def bias(self, at: At) -> Tensor | None:
        return self.inner.bias(at)

    def gate(self, x: Tensor) -> Tensor | None:
        return self.inner.gate(x)

    @property
    def biased(self) -> bool:
        return self.inner.biased

    def constrain(self) -> None:
        self.inner.constrain()

    def set_step(self, step: int) -> None:
        self.inner.set_step(step)

    def removable(self) -> tuple[str, ...]:
        return (*self.inner.removable(), self.name)

    def without(self, part: str) -> PositionScheme:
        if part == self.name:
            return self.inner
        around = copy(self)  # the same taps or strength, around another scheme
        around._modules = {**self._modules, "inner": self.inner.without(part)}
        return around

    def spread(self, generator: Generator, slope: float) -> None:
        self.inner.spread(generator, slope)

    def exact_prior(self, i: Tensor, j: Tensor) -> Tensor | float:
        return self.inner.exact_prior(i, j)

    def exact_gate(self, x: Tensor) -> Tensor | float:
        return self.inner.exact_gate(x)


def innermost(scheme: PositionScheme) -> PositionScheme:
    """The scheme itself, without what was put around it."""
    while isinstance(scheme, Wrapper):
        scheme = scheme.inner
    return scheme
