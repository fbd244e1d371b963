"""Where do the heads of a GOAT start to look? A distance for every head of every layer, and the waves that peak there.

A spectral part with a_r = A cos w_r delta, b_r = A sin w_r delta has log-prior A sum_r cos w_r (d - delta) at distance
d = i - j, which is highest, A R, at d = delta: head by head the model starts with n-gram contexts to copy from, and the
weights are free to move away.

It is as high again wherever all waves meet: those of the default periods every 168 bases, and nearly, 5.62 A of 6 A, 72
and 96 bases beyond the peak. Recency alone lowers such copies, by its slope times their distance; without it (the
spectral part alone, RoPE with biases) they stay.
"""

# L layers, H heads, R frequencies

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

FARTHER = 4  # bases that the farthest head looks farther back in each layer


def distances(layers: int, heads: int) -> tuple[tuple[int, ...], ...]:
    """Bases back for each head of each layer, L rows of H: geometric from 1 to 4 (l + 1) in layer l.

    For four layers of four heads: (1, 2, 3, 4), (1, 2, 4, 8), (1, 2, 5, 12), (1, 3, 6, 16). No head of a layer repeats
    another's distance.
    """
    return tuple(_spaced(FARTHER * (layer + 1), heads) for layer in range(layers))


def _spaced(reach: int, heads: int) -> tuple[int, ...]:
    chosen: list[int] = []
    for head in range(heads):
        ideal = round(reach ** (head / max(heads - 1, 1)))
        chosen.append(max(ideal, chosen[-1] + 1 if chosen else 1))
    return tuple(chosen)


def peaks(at: Sequence[int | None], frequencies: Tensor, amplitude: float) -> tuple[Tensor, Tensor]:
    """Even and odd coefficients (H, R) of heads whose log-prior peaks `at` these distances, 0 where that is None."""
    angles = torch.tensor([distance or 0 for distance in at], dtype=torch.float64)[:, None] * frequencies
    height = torch.tensor([0.0 if distance is None else amplitude for distance in at], dtype=torch.float64)[:, None]
    return height * angles.cos(), height * angles.sin()
