"""The parts that GOAT's log-prior is the sum of: spectral, sink, recency, each a component with lanes of its own."""

# H heads, T positions, R frequencies, M sink frequencies, P lanes

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from dnagoat.attention.lanes import recency
from dnagoat.attention.lanes.exact import high_and_residual
from dnagoat.attention.lanes.sinusoids import as_bits, from_bits, waves
from dnagoat.attention.schemes.base import At, Pair
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig

Weights = Mapping[str, Tensor]

SINK_FACTOR = 8.0  # the sink's query lanes: a power of two, which no precision rounds, near sqrt(content)
SINK_RANGE = 10.0  # in the proof: nats between the strongest and the weakest position


class Part(nn.Module):
    """One summand of the log-prior: `query` (..., H, T, P) times `key` (..., H, S, P) is it times root.

    Both are made of `own` weights, which are the part's or those of several layers, each with a leading L. A dimension
    that they do not depend on may be lacking or 1.
    """

    lanes: int

    def weights(self) -> Weights:
        """The part's parameters by name."""
        return dict(self.named_parameters())

    def query(self, at: At, root: float, own: Weights) -> Tensor:
        raise NotImplementedError

    def key(self, at: At, root: float, own: Weights) -> Tensor:
        raise NotImplementedError

    def constrain(self) -> None:
        """Puts parameters back where they are allowed to be."""

    def exact(self, i: Tensor, j: Tensor) -> Tensor:
        """Its share of K_ij by its formula, for i (T, 1) and j (1, S) in float64: (H, T or 1, S)."""
        raise NotImplementedError

    def spread(self, generator: torch.Generator, slope: float) -> None:
        """Puts parameters over their whole range."""


def mapped(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x (..., T, F) through one linear map (N, F), or through each of several (L, N, F) -> (..., T, N)."""
    if weight.dim() == 2:
        return nn.functional.linear(x, weight, bias)
    x = x.expand(len(weight), *x.shape[-2:])
    return x @ weight.mT if bias is None else torch.baddbmm(bias[:, None], x, weight.mT)


class Mute(Part):
    """A part whose lanes are there, for the head's width is fixed, and say nothing."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part, self.lanes = part, part.lanes

    def weights(self) -> Weights:
        return self.part.weights()

    def query(self, at: At, root: float, own: Weights) -> Tensor:
        return torch.zeros_like(self.part.query(at, root, own))

    def key(self, at: At, root: float, own: Weights) -> Tensor:
        return self.part.key(at, root, own)


class Spectral(Part):
    """sum_r a_r cos w_r (i-j) + b_r sin w_r (i-j): `even` a is symmetric, `odd` b knows the direction."""

    turns: Tensor  # the frequencies' bits, where they are not learned

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__()
        self.lanes = 2 * goat.rank
        self.even = nn.Parameter(torch.zeros(config.heads, goat.rank))
        self.odd = nn.Parameter(torch.zeros(config.heads, goat.rank))
        self.learned = nn.Parameter(goat.frequencies().log().float()) if goat.learn_periods else None
        self.register_buffer("turns", as_bits(goat.frequencies()), persistent=False)

    @property
    def frequencies(self) -> Tensor:
        """(R,) radians a base, float64."""
        return self.frequencies_of(self.weights())

    def frequencies_of(self, own: Weights) -> Tensor:
        return own["learned"].double().exp() if "learned" in own else from_bits(self.turns)

    def _waves(self, at: At, positions: Tensor, own: Weights) -> Pair:
        """Cosines then sines, and sines then the opposite of cosines, (..., 1, T, 2R)."""

        def make(p: Tensor) -> Pair:
            cosine, sine = waves(p if own["even"].dim() == 2 else p[None], self.frequencies_of(own), own["even"].dtype)
            return torch.cat([cosine, sine], -1).unsqueeze(-3), torch.cat([sine, -cosine], -1).unsqueeze(-3)

        if "learned" in own:
            return make(positions)
        return at.once("spectral", positions, make)

    def query(self, at: At, root: float, own: Weights) -> Tensor:
        symmetric, directed = self._waves(at, at.queries, own)
        even, odd = (root * torch.cat([own[name]] * 2, -1).unsqueeze(-2) for name in ("even", "odd"))
        return torch.addcmul(even * symmetric, odd, directed)

    def key(self, at: At, root: float, own: Weights) -> Tensor:
        return self._waves(at, at.keys, own)[0]

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
    turns: Tensor  # the frequencies' bits

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__()
        self.context = config.context
        self.register_buffer("turns", as_bits(goat.ladder(goat.sink_frequencies)), persistent=False)
        self.inner = nn.Linear(2 * goat.sink_frequencies + 2, goat.sink_width)
        self.outer = nn.Linear(goat.sink_width, 1, bias=False)
        self.gain = nn.Parameter(torch.zeros(config.heads))
        self.first = nn.Parameter(torch.zeros(config.heads))

    @property
    def frequencies(self) -> Tensor:
        """(M,) radians a base, float64."""
        return from_bits(self.turns)

    def features(self, positions: Tensor) -> Tensor:
        """(..., T) -> (..., T, 2M + 2)."""
        j = positions.double()
        dtype = self.gain.dtype
        scaled = torch.stack([j / self.context, j.log1p() / math.log1p(self.context)], dim=-1)
        return torch.cat([*waves(positions, self.frequencies, dtype), scaled.to(dtype)], dim=-1)

    def network(self, features: Tensor, own: Weights) -> Tensor:
        """(..., T, 2M + 2) -> (..., T), the same for all heads."""
        hidden = torch.tanh(mapped(features, own["inner.weight"], own["inner.bias"]))
        return mapped(hidden, own["outer.weight"]).squeeze(-1)

    def value(self, at: At, own: Weights) -> Tensor:
        """u(j) of each head at the keys, (..., H, S)."""
        dtype = self.gain.dtype
        shape = self.network(at.once("sink", at.keys, self.features), own).unsqueeze(-2)
        first = at.once("first", at.keys, lambda keys: (keys == 0).to(dtype).unsqueeze(-2))
        return torch.addcmul(own["gain"].unsqueeze(-1) * shape, own["first"].unsqueeze(-1), first)

    def query(self, at: At, root: float, own: Weights) -> Tensor:
        dtype = self.gain.dtype

        def make(positions: Tensor) -> Tensor:
            shape = (*positions.shape[:-1], 1, positions.shape[-1], self.lanes)
            return torch.full(shape, SINK_FACTOR, dtype=dtype, device=positions.device)

        return at.once("sink queries", at.queries, make)

    def key(self, at: At, root: float, own: Weights) -> Tensor:
        return torch.stack(high_and_residual(self.value(at, own) * (root / SINK_FACTOR)), dim=-1)

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
        seen = self.value(At(torch.arange(1024, device=self.gain.device)), self.weights())[0]
        self.gain.copy_(SINK_RANGE / (seen.max() - seen.min()) * torch.linspace(1, -1, len(self.gain)))
        self.first.uniform_(-3, 3, generator=generator)


class Slopes(Part):
    """slope * j with one slope >= 0 a head; a subclass says what keeps it there."""

    lanes = recency.LANES
    slopes: Tensor

    def slopes_of(self, own: Weights) -> Tensor:
        return own["slopes"]

    def query(self, at: At, root: float, own: Weights) -> Tensor:
        return recency.query_lanes(self.slopes_of(own), at, root)

    def key(self, at: At, root: float, own: Weights) -> Tensor:
        return recency.key_lanes(at, self.slopes.dtype)

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
