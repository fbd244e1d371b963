"""RoPE whose queries and keys have a bias a head: bias' R(d) bias is a spectral prior on frequencies of RoPE.

With init `distances` the first R pairs turn with the prior's periods and the biases start as its peaks; the other pairs
keep a RoPE ladder of their own. With another init the biases start at 0 and all pairs are RoPE's.
"""

# B batch, H heads, T positions, C content width, R frequencies

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING

from dnagoat.attention.schemes.base import BIAS, ROTATION, At, Pair, PositionScheme
from dnagoat.attention.schemes.rope import Rope, RopeSettings, exact_ladder, exact_rotation
from dnagoat.attention.schemes.waves import WaveSettings
from dnagoat.errors import OptionError

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import ModelConfig


class BiasedRopeSettings(WaveSettings, RopeSettings):
    """A RoPE whose biases start as peaks takes of a prior's settings where they are, and of which periods."""


class BiasedRope(Rope):
    settings = BiasedRopeSettings
    colours = ("#009fca", "#96d4e1")
    learned = True
    published = None

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        import torch
        from torch import nn

        super().__init__(config, layer)
        self.query_bias = nn.Parameter(torch.zeros(self.heads, self.content))
        self.key_bias = nn.Parameter(torch.zeros(self.heads, self.content))

    @property
    def own(self) -> Tensor:
        """(R,) radians a base, float64: of the periods that its peaks are made of."""
        import torch

        own = self.settings_as(WaveSettings)
        return own.frequencies() if own.init == "distances" else torch.empty(0)

    def ladder(self, pairs: int) -> Tensor:
        import torch

        own = self.own
        if len(own) > pairs:
            raise OptionError(
                f"rope+bias starts with {len(own)} periods, which turn {2 * len(own)} dimensions, more than "
                f"a head of {2 * pairs}; give fewer periods, init uniform, or wider heads"
            )
        return torch.cat([own, super().ladder(pairs - len(own))])

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        query, key = self.query_bias[:, None].to(q.dtype), self.key_bias[:, None].to(k.dtype)
        return super().rotate(q + query, k + key, at)

    def start(self, name: str, idle: Tensor, draw: Callable[[float], Tensor]) -> Tensor:
        own = self.settings_as(WaveSettings)
        if own.init != "distances":
            return idle
        chosen = own.placed(self.config.layers, self.heads)
        query, key = peak_biases(chosen[self.layer], own.frequencies(), own.amplitude, self.content)
        return (query if name == "query_bias" else key).to(idle)

    def removable(self) -> tuple[str, ...]:
        return (BIAS, ROTATION)

    def without(self, part: str) -> PositionScheme:
        from torch.nn import Parameter

        if part != BIAS:  # with the rotation go the biases, which it made a kernel
            return super().without(part)
        bare = copy(self)
        bare._parameters = {name: Parameter(value.detach() * 0) for name, value in self.named_parameters()}
        return bare

    def kernel(self, queries: Tensor, keys: Tensor) -> Tensor:
        """What the biases alone give to the scores; there are no lanes."""
        import torch

        with torch.no_grad():
            query = self.query_bias.double()[None, :, None].repeat(1, 1, len(queries), 1)
            key = self.key_bias.double()[None, :, None].repeat(1, 1, len(keys), 1)
            query, key, _ = super().rotate(query, key, At(queries, keys))
            return (query @ key.mT)[0] / self.root

    def spectral(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.kernel(queries, keys)  # the biases make nothing but waves

    def exact_content(self, x: Tensor, positions: Tensor, side: str) -> Tensor:
        import torch

        biased = x + getattr(self, f"{side}_bias").double()[:, None]
        ladder = exact_ladder(x.shape[-1] - 2 * len(self.own), self.base)
        return exact_rotation(biased, positions, torch.cat([self.own, ladder]))


def peak_biases(at: Sequence[int | None], frequencies: Tensor, amplitude: float, content: int) -> tuple[Tensor, Tensor]:
    """Biases (H, C) of queries and keys under RoPE, whose first R pairs turn with `frequencies`: peaks `at` distances.

    A pair's key bias is (s, 0) and its query bias s (cos w delta, -sin w delta): turned by d apart their product over
    the kernel's sqrt(C) is s^2 cos w (d - delta) / sqrt(C).
    """
    import torch

    from dnagoat.attention.schemes.distances import peaks

    even, odd = peaks(at, frequencies, 1.0)
    strength = (amplitude * content**0.5) ** 0.5
    query, key = (torch.zeros(len(at), 2, content // 2, dtype=torch.float64) for _ in range(2))
    query[:, 0, : len(frequencies)], query[:, 1, : len(frequencies)] = strength * even, -strength * odd
    key[:, 0, : len(frequencies)] = strength * (even.hypot(odd) > 0)  # none where there is no peak
    return query.flatten(1), key.flatten(1)
