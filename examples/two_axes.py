"""GOAT's spectral prior on two axes: a grid of cells, with or without a class token before them.

    K_ij = sum_r a_r cos w_r (row_i - row_j) + b_r sin w_r (row_i - row_j), and the same along the columns
    K_i,class = c for cells i, s for the class token itself; K_class,j = 0: a class token stands nowhere

GOAT, arXiv 2601.15380, its vision experiments. Each axis is a spectral prior over a sequence, which the library has:
their lanes ride along side by side inside queries and keys, so that one unmodified attention kernel serves them. A sum
over two axes is a product of two priors, which can be peaked at any offset.

    python examples/two_axes.py          where a head looks that was told to look one cell down and two to the left
"""

# H heads, N tokens (the class token first, then cells row by row), R wavelengths, D content width, P lanes

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

import dnagoat


def cell_positions(height: int, width: int, spacing: float = 1.0) -> Tensor:
    """(height * width, 2) float64 positions (row, column) of the cells, `spacing` apart."""
    rows, columns = torch.arange(height, dtype=torch.float64), torch.arange(width, dtype=torch.float64)
    return torch.cartesian_prod(rows, columns).view(-1, 2) * spacing


class GridPrior(nn.Module):
    """A translation-equivariant prior over the cells of a grid, per head; plain attention until it learns.

    With a class token, `class_key` and `class_self` (H) say how much cells, and the token itself, look at it. `spacing`
    says how far apart cells are in training units: 1/2 is a grid that samples the same picture twice as finely. A cell
    then weighs its area, so that more of them take nothing from the class token.
    """

    axes: Any  # a ModuleList of two position schemes, which says no more of its items than that they are modules

    def __init__(self, heads: int, wavelengths: Sequence[float], *, class_token: bool = True) -> None:
        super().__init__()
        arm = f"goat:spectral@init=uniform@periods={'/'.join(f'{length:g}' for length in wavelengths)}"
        width = 2 * len(wavelengths) + 2
        self.axes = nn.ModuleList(dnagoat.position_scheme(arm, heads=heads, head_width=width) for _ in range(2))
        self.lanes = 4 * len(wavelengths) + int(class_token)
        self.class_token = class_token
        if class_token:
            self.class_key = nn.Parameter(torch.zeros(heads))
            self.class_self = nn.Parameter(torch.zeros(heads))

    @torch.no_grad()
    def look_at(self, offsets: Tensor, amplitude: float = 1.0) -> None:
        """Starts head h with its prior's peak at x_i - x_j = offsets[h]; (H, 2), `amplitude` nats a wave."""
        for axis, scheme in enumerate(self.axes):
            even, odd, frequencies = scheme.waves()
            phases = offsets[:, axis, None].double() * frequencies
            even.copy_(amplitude * phases.cos())
            odd.copy_(amplitude * phases.sin())

    def factors(self, height: int, width: int, spacing: float = 1.0) -> tuple[Tensor, Tensor]:
        """Query lanes and key lanes (H, N, P) whose product over P is the log-prior (H, N, N)."""
        cells = cell_positions(height, width, spacing).T
        pairs = [scheme.factors(places, places) for scheme, places in zip(self.axes, cells, strict=True)]
        queries, keys = (torch.cat(sides, dim=-1) for sides in zip(*pairs, strict=True))
        return self._with_class(queries, keys, spacing) if self.class_token else (queries, keys)

    def _with_class(self, queries: Tensor, keys: Tensor, spacing: float) -> tuple[Tensor, Tensor]:
        """One more token before the cells and one more lane, which only the class token's key answers."""
        looks = torch.cat([self.class_self[:, None], self.class_key[:, None].expand(-1, queries.shape[1])], dim=-1)
        looks = looks - 2 * math.log(spacing)
        answers = torch.zeros_like(looks)
        answers[:, 0] = 1.0
        before = (0, 0, 1, 0)  # no lanes of the axes for the class token
        return (
            torch.cat([pad(queries, before), looks.unsqueeze(-1)], dim=-1),
            torch.cat([pad(keys, before), answers.unsqueeze(-1)], dim=-1),
        )

    def log_prior(self, height: int, width: int, spacing: float = 1.0) -> Tensor:
        """(H, N, N) log-prior from the same factors, rows are queries; for plots and tests, never for attention."""
        queries, keys = self.factors(height, width, spacing)
        return queries @ keys.mT

    def extend(self, q: Tensor, k: Tensor, height: int, width: int, spacing: float = 1.0) -> tuple[Tensor, Tensor]:
        """Content queries and keys (B, H, N, D) with their lanes, (B, H, N, D + P).

        Attend with scale 1 / sqrt(D): the scores are then q.k / sqrt(D) + K.
        """
        queries, keys = self.factors(height, width, spacing)
        queries = queries * math.sqrt(q.shape[-1])
        return (
            torch.cat([q, queries.to(q.dtype).expand(*q.shape[:-1], -1)], dim=-1),
            torch.cat([k, keys.to(k.dtype).expand(*k.shape[:-1], -1)], dim=-1),
        )


def main() -> None:
    prior = GridPrior(1, (2.0, 3.0, 5.0, 9.0), class_token=False)
    prior.look_at(torch.tensor([[-1.0, 2.0]]))
    weights = prior.log_prior(5, 5).softmax(-1)[0, 12].view(5, 5)  # the query stands in the middle
    for row in weights.tolist():
        print("  ".join(f"{100 * weight:5.1f} %" for weight in row))


if __name__ == "__main__":
    main()
