"""GOAT's parts as its authors' module has them (goat-attention 0.1.1): setting `form` = `authors`.

The spectral part is ours but for its frequencies, `waves.whole_ladder`, which the sink has too. The sink's network has
few units, SiLU and a bias on its output; slopes are softplus of the parameter. The lanes stay exact: where their module
has one lane for all that depends on the key alone, we have seven, so that of a head of 64 at rank 2 the content has 52
dimensions, and 59 with theirs (`ModelConfig.content` gives it as many as wanted).
"""

# H heads, T positions, M sink frequencies

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import silu, softplus

from dnagoat.attention.schemes.goat import Form, GoatConfig
from dnagoat.attention.schemes.parts import Part, Recency, Sink, Slopes, Spectral, Weights, mapped
from dnagoat.config import ModelConfig


class AuthorsSink(Sink):
    """u(j) = gain * (out . SiLU(W features + b) + bias) + first [j = 0].

    The bias of the output is a constant a row, which softmax does not see; it is here because their weights have it.
    """

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__(config, goat)
        self.outer = nn.Linear(goat.sink_width, 1)

    def network(self, features: Tensor, own: Weights) -> Tensor:
        hidden = silu(mapped(features, own["inner.weight"], own["inner.bias"]))
        return mapped(hidden, own["outer.weight"], own["outer.bias"]).squeeze(-1)

    def exact_network(self, inner: Tensor) -> Tensor:
        return inner / (1 + torch.exp(-inner)) @ self.outer.weight.double()[0] + self.outer.bias.double()


class AuthorsRecency(Slopes):
    """slope = softplus(raw): above 0 without a constraint, and never 0 itself."""

    def __init__(self, config: ModelConfig, goat: GoatConfig) -> None:
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(config.heads))

    @property
    def slopes(self) -> Tensor:  # type: ignore[override]
        return softplus(self.raw)

    def slopes_of(self, own: Weights) -> Tensor:
        return softplus(own["raw"])

    def exact_slopes(self) -> Tensor:
        return self.raw.double().exp().log1p()

    def set_slopes(self, slopes: Tensor) -> None:
        self.raw.copy_(raw_of(slopes))


def raw_of(slopes: Tensor) -> Tensor:
    """The parameter whose softplus these slopes are; slope 0 becomes -30, softplus of which is 1e-13."""
    return slopes.double().expm1().log().clamp(min=-30.0).to(slopes)


# In the order of their lanes: large terms first (see recency).
FORMS: dict[Form, dict[str, type[Part]]] = {
    "own": {"recency": Recency, "sink": Sink, "spectral": Spectral},
    "authors": {"recency": AuthorsRecency, "sink": AuthorsSink, "spectral": Spectral},
}
