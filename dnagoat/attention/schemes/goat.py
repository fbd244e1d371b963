"""GOAT's learned prior (arXiv 2601.15380) as three parts, each of which can be left out: spectral, sink, recency.

    K_ij = sum_r [a_r cos w_r (i-j) + b_r sin w_r (i-j)]  +  u(j)  +  slope * j

Each part gives query and key lanes whose product is its share of K times sqrt(content width); side by side in the head
they make one unmodified attention kernel compute softmax(QK' / sqrt(C) + K). No T x S matrix is ever built.
"""

# H heads, T positions, P lanes

from __future__ import annotations

import torch
from torch import Tensor, nn

from dnagoat.attention.lanes.pieces import REACH
from dnagoat.attention.schemes.authors import AuthorsRecency, AuthorsSink
from dnagoat.attention.schemes.base import At, Pair, PositionScheme
from dnagoat.attention.schemes.parts import Part, Recency, Sink, Spectral
from dnagoat.attention.schemes.rope import Rope
from dnagoat.config import GoatForm, ModelConfig

# In the order of their lanes: large terms first (see recency).
PARTS: dict[GoatForm, dict[str, type[Part]]] = {
    "own": {"recency": Recency, "sink": Sink, "spectral": Spectral},
    "authors": {"recency": AuthorsRecency, "sink": AuthorsSink, "spectral": Spectral},
}


class Goat(PositionScheme):
    """The sum of the chosen parts."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        goat = config.position.goat
        chosen = {name: part for name, part in PARTS[goat.form].items() if name in goat.parts}
        self.parts = nn.ModuleDict({name: part(config) for name, part in chosen.items()})
        used = sum(part.lanes for part in self._parts())
        self.lanes = used + used % 2  # an even content width, so that it can be rotated
        self._spare = self.lanes - used
        self.reach = REACH if "recency" in self.parts else None

    def _parts(self) -> list[Part]:
        return list(self.parts.values())  # type: ignore[arg-type]

    def lanes_at(self, at: At) -> Pair:
        query = torch.cat([part.query(at, self.root) for part in self._parts()], dim=-1)
        key = torch.cat([part.key(at, self.root) for part in self._parts()], dim=-1)
        return nn.functional.pad(query, (0, self._spare)), nn.functional.pad(key, (0, self._spare))

    def constrain(self) -> None:
        for part in self._parts():
            part.constrain()


class RotatedGoat(Goat):
    """GOAT's prior over content that RoPE has turned."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        self.rope = Rope(config, layer)

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        return self.rope.rotate(q, k, at, before)
