"""The parts that GOAT's log-prior is the sum of: spectral, sink, recency, each a component with lanes of its own."""

# H heads, T positions, R frequencies, M sink frequencies, P lanes

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from dnagoat.attention.lanes import recency
from dnagoat.attention.lanes.exact import high_and_residual
from dnagoat.attention.lanes.sinusoids import waves
from dnagoat.attention.schemes.base import At, Pair
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig

SINK_FACTOR = 8.0  # the sink's query lanes: a power of two, which no precision rounds, near sqrt(content)
SINK_RANGE = 10.0  # in the proof: nats between the strongest and the weakest position


class Part(nn.Module):
    """One summand of the log-prior: `query` (..., H, T, P) times `key` (..., H, S, P) is it times root."""

    lanes: int

    def query(self, at: At, root: float) -> Tensor:
        raise NotImplementedError

    def key(self, at: At, root: float) -> Tensor:
        raise NotImplementedError

    def constrain(self) -> None:
        """Puts parameters back where they are allowed to be."""

    def exact(self, i: Tensor, j: Tensor) -> Tensor:
        """Its share of K_ij by its formula, for i (T, 1) and j (1, S) in float64: (H, T or 1, S)."""
        raise NotImplementedError

    def spread(self, generator: torch.Generator, slope: float) -> None:
        """Puts parameters over their whole range."""


class Mute(Part):
    """A part whose lanes are there, for the head's width is fixed, and say nothing."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part, self.lanes = part, part.lanes

    def query(self, at: At, root: float) -> Tensor:
        return torch.zeros_like(self.part.query(at, root))

    def key(self, at: At, root: float) -> Tensor:
        return self.part.key(at, root)


class Spectral(Part):
    """sum_r a_r cos w_r (i-j) + b_r sin w_r (i-j): `even` a is symmetric, `odd` b knows the direction."""

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__()
        self.lanes = 2 * goat.rank
        self.even = nn.Parameter(torch.zeros(config.heads, goat.rank))
        self.odd = nn.Parameter(torch.zeros(config.heads, goat.rank))
        self.learned = nn.Parameter(goat.frequencies().log().float()) if goat.learn_periods else None
        self._goat = goat

    @property
    def frequencies(self) -> Tensor:
        """(R,) radians a base, float64."""
        return self._goat.frequencies() if self.learned is None else self.learned.double().exp()

    def _waves(self, at: At, positions: Tensor) -> Pair:
        def make(p: Tensor) -> Pair:
            return waves(p, self.frequencies, self.even.dtype)

        return at.once("spectral", positions, make) if self.learned is None else make(positions)

    def query(self, at: At, root: float) -> Tensor:
        cosine, sine = (wave.unsqueeze(-3) for wave in self._waves(at, at.queries))
        even, odd = root * self.even[:, None], root * self.odd[:, None]
        return torch.cat([even * cosine + odd * sine, even * sine - odd * cosine], dim=-1)

    def key(self, at: At, root: float) -> Tensor:
        lanes = torch.cat(self._waves(at, at.keys), dim=-1)
        return lanes.unsqueeze(-3).expand(*lanes.shape[:-2], len(self.even), *lanes.shape[-2:])

    @torch.no_grad()
    def constrain(self) -> None:
        if self.learned is not None:
            self.learned.clamp_(max=math.log(math.pi))  # a period below 2 bases looks like a longer one

    def exact(self, i: Tensor, j: Tensor) -> Tensor:
        angles = self.frequencies.to(i.device)[:, None, None] * (i - j)
        even = torch.einsum("hr,rts->hts", self.even.double(), angles.cos())
        return even + torch.einsum("hr,rts->hts", self.odd.double(), angles.sin())

    def spread(self, generator: torch.Generator, slope: float) -> None:
        self.even.uniform_(-1, 1, generator=generator)
        self.odd.uniform_(-1, 1, generator=generator)


class Sink(Part):
    """u(j): a small network of the key's position times a gain a head, plus a bump at the first position.

    Features: cosines and sines at M frequencies, j / context, log(1 + j) / log(1 + context).
    """

    lanes = 2

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__()
        self.context = config.context
        self.count, self._ladder = goat.sink_frequencies, goat.ladder
        self.inner = nn.Linear(2 * self.count + 2, goat.sink_width)
        self.outer = nn.Linear(goat.sink_width, 1, bias=False)
        self.gain = nn.Parameter(torch.zeros(config.heads))
        self.first = nn.Parameter(torch.zeros(config.heads))

    @property
    def frequencies(self) -> Tensor:
        """(M,) radians a base, float64."""
        return self._ladder(self.count)

    def features(self, positions: Tensor) -> Tensor:
        """(..., T) -> (..., T, 2M + 2)."""
        j = positions.double()
        dtype = self.gain.dtype
        scaled = torch.stack([j / self.context, j.log1p() / math.log1p(self.context)], dim=-1)
        return torch.cat([*waves(positions, self.frequencies, dtype), scaled.to(dtype)], dim=-1)

    def network(self, features: Tensor) -> Tensor:
        """(..., T, 2M + 2) -> (..., T), the same for all heads."""
        shape: Tensor = self.outer(torch.tanh(self.inner(features))).squeeze(-1)
        return shape

    def value(self, at: At) -> Tensor:
        """u(j) of each head at the keys, (..., H, S)."""
        shape = self.network(at.once("sink", at.keys, self.features)).unsqueeze(-2)
        return self.gain[:, None] * shape + self.first[:, None] * (at.keys == 0).to(shape.dtype).unsqueeze(-2)

    def query(self, at: At, root: float) -> Tensor:
        shape = (*at.queries.shape[:-1], len(self.gain), at.queries.shape[-1], self.lanes)
        return self.gain.new_full((), SINK_FACTOR).expand(shape)

    def key(self, at: At, root: float) -> Tensor:
        return torch.stack(high_and_residual(self.value(at) * (root / SINK_FACTOR)), dim=-1)

    def exact(self, i: Tensor, j: Tensor) -> Tensor:
        """gain * network(features of j) + first * [j = 0]."""
        j = j[0]
        angles = j[:, None] * self.frequencies.to(j.device)
        scaled = [j / self.context, torch.log(1 + j) / math.log(1 + self.context)]
        features = torch.cat([angles.cos(), angles.sin(), torch.stack(scaled, -1)], dim=-1)
        shape = self.exact_network(features @ self.inner.weight.double().T + self.inner.bias.double())
        return (self.gain.double()[:, None] * shape + self.first.double()[:, None] * (j == 0))[:, None]

    def exact_network(self, inner: Tensor) -> Tensor:
        return torch.tanh(inner) @ self.outer.weight.double()[0]

    def spread(self, generator: torch.Generator, slope: float) -> None:
        self.gain.fill_(1.0)
        seen = self.value(At(torch.arange(1024)))[0]
        self.gain.copy_(SINK_RANGE / (seen.max() - seen.min()) * torch.linspace(1, -1, len(self.gain)))
        self.first.uniform_(-3, 3, generator=generator)


class Slopes(Part):
    """slope * j with one slope >= 0 a head; a subclass says what keeps it there."""

    lanes = recency.LANES
    slopes: Tensor

    def query(self, at: At, root: float) -> Tensor:
        return recency.query_lanes(self.slopes, at, root)

    def key(self, at: At, root: float) -> Tensor:
        return recency.key_lanes(len(self.slopes), at, self.slopes.dtype)

    def exact(self, i: Tensor, j: Tensor) -> Tensor:
        return self.exact_slopes()[:, None, None] * j

    def exact_slopes(self) -> Tensor:
        return self.slopes.double()

    def set_slopes(self, slopes: Tensor) -> None:
        """Makes the slopes these, (H,)."""
        self.slopes.copy_(slopes)

    def spread(self, generator: torch.Generator, slope: float) -> None:
        self.set_slopes(slope * torch.linspace(1, 0, len(self.slopes)))


class Recency(Slopes):
    """Slopes that are parameters, put back to 0 where a step took them below."""

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__()
        self.slopes = nn.Parameter(torch.zeros(config.heads))

    @torch.no_grad()
    def constrain(self) -> None:
        # Not softplus, which cannot be 0, nor relu or a square, which have no gradient there.
        self.slopes.clamp_(min=0)
