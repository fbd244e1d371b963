"""What the spectral prior looks like on two axes: a grid of cells, with or without a class token before them.

    K_ij = sum_r a_r cos(w_r . (x_i - x_j)) + b_r sin(w_r . (x_i - x_j))     cells at x = (row, column) * spacing
    K_i,class = c for cells i, s for the class token itself; K_class,j = 0: a class token stands nowhere

GOAT, arXiv 2601.15380, its vision experiments. Like the prior over a sequence it is a product of lanes that ride along
inside queries and keys, so that one unmodified attention kernel serves it.
"""

# H heads, N tokens (the class token first, then cells row by row), R wave vectors, D content width, P lanes

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn


def axis_waves(wavelengths: Sequence[float]) -> Tensor:
    """(R, 2) wave vectors in radians a unit of length: each wavelength once down the rows, once along the columns.

    Axes are enough: a sum over the two axes is a product of two priors, which can be peaked at any offset.
    """
    angular = 2 * math.pi / torch.tensor(wavelengths, dtype=torch.float64)
    rows = torch.stack([angular, torch.zeros_like(angular)], dim=-1)
    return torch.cat([rows, rows.flip(-1)])


def cell_positions(height: int, width: int, spacing: float = 1.0) -> Tensor:
    """(height * width, 2) float64 positions (row, column) of the cells, `spacing` apart."""
    rows, columns = torch.arange(height, dtype=torch.float64), torch.arange(width, dtype=torch.float64)
    return torch.cartesian_prod(rows, columns).view(-1, 2) * spacing


class GridPrior(nn.Module):
    """A translation-equivariant prior over the cells of a grid, per head.

    `waves` (R, 2) are wave vectors (radians a unit). `even` and `odd` (H, R) start at zero, which is plain attention;
    `look_at` starts heads at chosen neighbours instead. With a class token, `class_key` and `class_self` (H) say how
    much cells, and the token itself, look at it.

    `spacing` says how far apart cells are in training units: 1 keeps offsets as numbers of cells; 1/2 says that the
    grid samples the same picture twice as finely. A cell then weighs its area, so that more of them take nothing
    from the class token.
    """

    even: nn.Parameter
    odd: nn.Parameter
    waves: Tensor

    def __init__(self, heads: int, waves: Tensor, *, class_token: bool = True) -> None:
        super().__init__()
        self.register_buffer("waves", waves.double(), persistent=False)
        self.even = nn.Parameter(torch.zeros(heads, len(waves)))
        self.odd = nn.Parameter(torch.zeros(heads, len(waves)))
        self.class_token = class_token
        if class_token:
            self.class_key = nn.Parameter(torch.zeros(heads))
            self.class_self = nn.Parameter(torch.zeros(heads))

    @torch.no_grad()
    def look_at(self, offsets: Tensor, amplitude: float = 1.0) -> None:
        """Starts head h with its prior's peak at x_i - x_j = offsets[h]; (H, 2), `amplitude` nats a wave."""
        phases = offsets.double() @ self.waves.T
        self.even.copy_(amplitude * phases.cos())
        self.odd.copy_(amplitude * phases.sin())

    @property
    def lanes(self) -> int:
        """P: how many lanes a query and a key carry."""
        return 2 * len(self.waves) + int(self.class_token)

    def factors(self, height: int, width: int, spacing: float = 1.0) -> tuple[Tensor, Tensor]:
        """Query lanes (H, N, P) and key lanes (1, N, P) whose product over P is the log-prior (H, N, N).

        Angles are taken in float64; the lanes have the parameters' precision.
        """
        angles = cell_positions(height, width, spacing).to(self.waves.device) @ self.waves.T
        cos, sin = angles.cos().to(self.even.dtype), angles.sin().to(self.even.dtype)
        even, odd = self.even[:, None, :], self.odd[:, None, :]
        queries = torch.cat([even * cos + odd * sin, even * sin - odd * cos], dim=-1)
        keys = torch.cat([cos, sin], dim=-1).unsqueeze(0)
        return self._with_class(queries, keys, spacing) if self.class_token else (queries, keys)

    def _with_class(self, queries: Tensor, keys: Tensor, spacing: float) -> tuple[Tensor, Tensor]:
        """One more token before the cells and one more lane, which only the class token's key answers."""
        cells = queries.shape[1]
        looks = torch.cat([self.class_self[:, None], self.class_key[:, None].expand(-1, cells)], dim=-1)
        looks = looks - 2 * math.log(spacing)
        answers = torch.zeros_like(looks[:1])
        answers[:, 0] = 1.0
        before = (0, 0, 1, 0)  # no lanes of the spectral part for the class token
        return (
            torch.cat([nn.functional.pad(queries, before), looks.unsqueeze(-1)], dim=-1),
            torch.cat([nn.functional.pad(keys, before), answers.unsqueeze(-1)], dim=-1),
        )

    def log_prior(self, height: int, width: int, spacing: float = 1.0) -> Tensor:
        """(H, N, N) log-prior from the same factors, rows are queries; for plots and tests, never for attention."""
        queries, keys = self.factors(height, width, spacing)
        return queries @ keys.transpose(-1, -2)

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
