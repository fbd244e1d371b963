"""The log-prior of one query over the keys that a decoder holds: a row a head, the same for all sequences of a batch.

Position lanes need not be kept with the keys of every sequence. They are kept once, in float64, and taken relative to a
key nearby before they are rounded: K_ij is needed up to a constant a row, and what is near is then exact to the last
digits, whatever the position.
"""

# L layers, H heads, P lanes, R room (keys held), S keys seen, n positions of a block

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dnagoat.attention.positions import At, PositionScheme

BLOCK = 128  # positions whose lanes are made at a time


class PriorRows:
    """Key lanes by slot, and the lanes of the next positions; there is nothing to it where a scheme has no lanes."""

    def __init__(self, schemes: Sequence[PositionScheme], heads: int, room: int, like: Tensor) -> None:
        self.schemes, self.heads = schemes, heads
        self.lanes = schemes[0].lanes
        shape = len(schemes) * heads, self.lanes, room
        self.keys = like.new_empty(shape, dtype=torch.float64)
        self._near = like.new_empty(shape)  # the same relative to the first key of the block
        self._first = -BLOCK

    def read(self, keys: Tensor) -> None:
        """Takes the key lanes (L, H, S, P) of the first S positions."""
        self.keys[..., : keys.shape[2]] = keys.flatten(0, 1).transpose(1, 2)

    def row(self, position: int, slot: int, seen: int) -> tuple[Tensor, ...] | None:
        """Each layer's log-prior (H, 1, S) of the query at `position`, whose own key lies at `slot`, or None."""
        if not self.lanes:
            return None
        within = position - self._first
        if within >= BLOCK:
            self._make(position)
            within = 0
        self.keys.select(-1, slot).copy_(self._key[within])
        self._near.select(-1, slot).copy_(self._near_key[within])
        row = torch.bmm(self._query[within], self._near.narrow(-1, 0, seen))
        return row.view(len(self.schemes), self.heads, 1, seen).unbind()

    def _make(self, first: int) -> None:
        """Lanes of n positions by position: queries (n, L H, 1, P) over the kernel's root, keys (n, L H, P)."""
        at = At(torch.arange(first, first + BLOCK, device=self.keys.device))
        lanes = [(scheme.lanes_at(at), scheme.root) for scheme in self.schemes]
        query = torch.cat([pair[0] / root for pair, root in lanes if pair])
        self._query = query.transpose(0, 1)[:, :, None].contiguous()
        self._key = torch.cat([pair[1].double() for pair, _ in lanes if pair]).transpose(0, 1).contiguous()
        self._near_key = (self._key - self._key[0]).to(query.dtype)
        held = min(first, self.keys.shape[-1])
        self._near[..., :held] = self.keys[..., :held] - self._key[0, :, :, None]
        self._first = first
