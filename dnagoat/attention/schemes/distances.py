"""Where do the heads of a GOAT start to look? Most at a distance of their own, through waves that peak there.

A spectral part with a_r = A cos w_r delta, b_r = A sin w_r delta has log-prior A sum_r cos w_r (d - delta) at distance
d = i - j, which is highest, A R, at d = delta: head by head the model starts with n-gram contexts to copy from, and the
weights are free to move away.

A free head starts without a peak and without a slope, so that content alone says where it looks: half of the heads of
each layer in the upper half, unless more or fewer are asked for. Heads with peaks know what stood right before a base;
a free head of a later layer finds, however far back, the base whose predecessors match. With none of them a model
hardly learns to retrieve, with half of them it does in every seed (experiments/mixed-start.md).

It is as high again wherever all waves meet: those of the default periods every 168 bases, and nearly, 5.62 A of 6 A, 72
and 96 bases beyond the peak. Recency alone lowers such copies, by its slope times their distance; without it (the
spectral part alone, RoPE with biases) they stay. In a model with free heads, which are there to look far, every head
with a peak has at first a slope of 1/16 or more, or one over its distance where that is less: the first copy is lower
by 4.5 nats. With ALiBi's flattest slopes in the lower layers such heads see copies of their peaks in long windows, and
what the free heads then match is blurred: at 16 times the length of training 42 % of keys are recalled instead of 70 %
(one seed).
"""

# L layers, H heads, R frequencies

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dnagoat.attention.schemes.alibi import alibi_slopes

FREE = 2  # of so many heads of an upper layer one is free
FARTHER = 4  # bases that the farthest head looks farther back in each layer
LEVELLEST = 1 / 16  # nats a base, of a head with a peak in a model with free ones


def distances(layers: int, heads: int, free: int | None = None) -> tuple[tuple[int | None, ...], ...]:
    """Bases back for each head of each layer, L rows of H: geometric from 1 to 4 (l + 1) in layer l, None where free.

    The last `free` heads of each layer in the upper half are free, by default half of them, rounded down. For four
    layers of four heads: (1, 2, 3, 4), (1, 2, 4, 8), (1, 12, None, None), (1, 16, None, None). No head of a layer
    repeats another's distance.
    """
    free = heads // FREE if free is None else free
    rows = []
    for layer in range(layers):
        none = free if layer >= layers // 2 else 0
        rows.append((*_spaced(FARTHER * (layer + 1), heads - none), *[None] * none))
    return tuple(rows)


def slopes(rows: Sequence[Sequence[int | None]], layer: int) -> Tensor:
    """(H,) nats a base that the heads of a layer start with: ALiBi's, falling, the farther a head looks the flatter.

    Where some of the model's heads are free, these have 0, and all others `LEVELLEST` at least and one over their
    distance at most: a steeper slope hides a peak behind nearer bases.
    """
    falling = alibi_slopes(len(rows[layer])).sort(descending=True).values
    if not any(None in row for row in rows):
        return falling
    steepest = [0.0 if distance is None else 1 / max(distance, 1) for distance in rows[layer]]
    return falling.clamp(min=LEVELLEST).minimum(torch.tensor(steepest, dtype=falling.dtype))


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
