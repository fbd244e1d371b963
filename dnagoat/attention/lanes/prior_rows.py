"""The log-prior and the bias of one query over the keys that a decoder holds: a row a head, the same for all sequences.

Position lanes need not be kept with the keys of every sequence. They are kept once, in float64, and taken relative to a
key nearby before they are rounded: K_ij is needed up to a constant a row, and what is near is then exact to the last
digits, whatever the position.
"""

# L layers, H heads, P lanes, R room (keys held), S keys seen, n positions of a block

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, PositionScheme

BLOCK = 128  # positions whose lanes are made at a time
AHEAD = 16  # rows that are formed at a time, fewer where they are long
AHEAD_SYMBOLS = 1 << 16


class PriorRows:
    """Key lanes by slot, and the lanes of the next positions; nothing where a scheme has neither lanes nor bias."""

    def __init__(self, schemes: Sequence[PositionScheme], heads: int, room: int, like: Tensor) -> None:
        self.schemes, self.heads, self.room = schemes, heads, room
        self.lanes, self.biased = schemes[0].lanes, schemes[0].biased
        self._positions = torch.arange(room, device=like.device)  # of the keys, by slot
        shape = len(schemes) * heads, self.lanes, room
        self.keys = like.new_empty(shape, dtype=torch.float64)
        self._near = like.new_empty(shape)  # the same relative to the first key of the block
        self._first, self._row = -BLOCK, 0
        self._rows: list[Tensor] = []

    def read(self, keys: Tensor) -> None:
        """Takes the key lanes (L, H, S, P) of the first S positions."""
        self.keys[..., : keys.shape[2]] = keys.flatten(0, 1).transpose(1, 2)

    def row(self, position: int, slot: int, seen: int) -> tuple[Tensor, ...] | None:
        """Each layer's log-prior (H, 1, S) of the query at `position`, whose own key lies at `slot`, or None."""
        if not (self.lanes or self.biased):
            return None
        if not self._row <= position < self._row + len(self._rows):
            self._look_ahead(position, slot)
        row = self._rows[position - self._row]
        return row.narrow(-1, 0, seen).view(len(self.schemes), self.heads, 1, seen).unbind()

    def _look_ahead(self, position: int, slot: int) -> None:
        """Rows of this position and of those after it, as one product: until the window slides, all have their keys."""
        if self.lanes and position >= self._first + BLOCK:
            self._make(position)
        within = (position - self._first) % BLOCK
        few = max(1, AHEAD_SYMBOLS // self.room)
        count = min(AHEAD, few, BLOCK - within, self.room - slot) if slot == position else 1
        held = min(position + count, self.room)
        rows = self._products(slice(within, within + count), slice(slot, slot + count), held) if self.lanes else None
        if self.biased:
            self._positions[slot] = position  # those ahead are at their own slots from the start
            bias = self._biases(position, count, held)
            rows = bias if rows is None else rows + bias
        assert rows is not None
        self._rows, self._row = list(rows.unbind(1)), position

    def _products(self, following: slice, slots: slice, held: int) -> Tensor:
        """(L H, n, S) of the lanes of n queries and of the keys held."""
        self.keys[..., slots] = self._key[..., following]
        self._near[..., slots] = self._near_key[..., following]
        return torch.bmm(self._query[:, following], self._near[..., :held])

    def _biases(self, position: int, count: int, held: int) -> Tensor:
        """(L H, n, S) of n queries from `position` on."""
        queries = torch.arange(position, position + count, device=self._positions.device)
        at = At(queries, self._positions[:held])
        return torch.cat([bias for scheme in self.schemes if (bias := scheme.bias(at)) is not None])

    def _make(self, first: int) -> None:
        """Lanes of n positions: queries (L H, n, P) over the kernel's root, keys (L H, P, n)."""
        at = At(torch.arange(first, first + BLOCK, device=self.keys.device))
        lanes = [(scheme.lanes_at(at), scheme.root) for scheme in self.schemes]
        self._query = torch.cat([pair[0] / root for pair, root in lanes if pair])
        self._key = torch.cat([pair[1].double() for pair, _ in lanes if pair]).transpose(1, 2)
        self._near_key = (self._key - self._key[..., :1]).to(self._query.dtype)
        held = min(first, self.room)
        self._near[..., :held] = self.keys[..., :held] - self._key[..., :1]
        self._first = first
