"""The rows of `prior_rows` for a position that only the device knows: the same operations and shapes at each."""

# L layers, H heads, P lanes, S keys read, n positions of a block

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dnagoat.attention.lanes.prior_rows import BLOCK, PriorRows
from dnagoat.attention.schemes.base import At, PositionScheme


class DeviceRows(PriorRows):
    """Log-prior, bias and what hides the slots that are still empty, in one row."""

    def __init__(self, schemes: Sequence[PositionScheme], heads: int, room: int, like: Tensor) -> None:
        super().__init__(schemes, heads, room, like)
        self._begin = torch.zeros_like(self._positions[:1])
        self._held: tuple[Tensor, ...] = ()  # the lanes of a block, written over by those of the next

    def prepare(self, position: int) -> None:
        """Makes the lanes of the block that begins here, if one does; called by the host before each step."""
        if not self.lanes or position < self._first + BLOCK:
            return
        self._make(position)
        self._begin.fill_(position)
        made = self._query, self._key, self._near_key
        self._held = self._held or tuple(torch.empty_like(lanes) for lanes in made)
        for held, lanes in zip(self._held, made, strict=True):
            held.copy_(lanes)

    def at(self, position: Tensor, slot: Tensor, seen: int) -> tuple[Tensor, ...]:
        """Each layer's row (H or 1, 1, S) of the query at `position` (1,), whose own key lies at `slot` (1,); slots
        that are still empty are hidden."""
        layers = len(self.schemes)
        row = self._product(position, slot, seen) if self.lanes else None
        if self.biased:
            self._positions.index_copy_(0, slot, position)
            at = At(position, self._positions[:seen])
            bias = torch.cat([bias for scheme in self.schemes if (bias := scheme.bias(at)) is not None])
            row = bias if row is None else row + bias
        empty = torch.arange(seen, device=slot.device) > position  # past the window's length none is
        if row is None:
            hidden = torch.zeros_like(empty, dtype=self._near.dtype).masked_fill_(empty, -torch.inf)
            return (hidden.view(1, 1, seen),) * layers
        return row.masked_fill_(empty, -torch.inf).view(layers, self.heads, 1, seen).unbind()

    def _product(self, position: Tensor, slot: Tensor, seen: int) -> Tensor:
        """(L H, 1, S) of the lanes of a query and of the keys read, its own among them."""
        within = position - self._begin
        query, key, near = self._held
        self.keys.index_copy_(2, slot, key.index_select(2, within))
        self._near.index_copy_(2, slot, near.index_select(2, within))
        return torch.bmm(query.index_select(1, within), self._near[..., :seen])
