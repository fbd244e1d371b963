"""How attention learns where a base is: the interface of position schemes, and NoPE, which is its empty case.

A scheme may act in three places, and only where it must: on the embeddings (sinusoidal), by turning queries and keys
(RoPE), and through lanes of the head whose product is a log-prior (ALiBi, GOAT).
"""

# B batch, T queries, S keys, H heads, D head width, C content width of a head (D - P), P lanes

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from dnagoat.config import ModelConfig

Pair = tuple[Tensor, Tensor]
Made = TypeVar("Made", Tensor, Pair)


def single_products(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether `dtype` keeps 24 bits, and is multiplied as it is here: no autocast, bfloat16 or TF32."""
    if device.type != "cpu" or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling():
        return False  # a compiled graph cannot ask for the precision
    return dtype in (torch.float32, torch.float64) and torch.get_float32_matmul_precision() == "highest"


class At:
    """Absolute positions of queries and keys, (T,) or (B, T); what layers share about them is made once a forward.

    `origin` is a position to count from where only differences matter (recency's lanes); `queries` and `keys` stay
    absolute. Keys that are kept for later calls must be counted from 0. `single` promises that lanes in float32 are
    multiplied as such: a position then needs no pieces.
    """

    def __init__(self, queries: Tensor, keys: Tensor | None = None, origin: int = 0, single: bool = False) -> None:
        self.queries = queries
        self.keys = queries if keys is None else keys
        self.origin, self.single = origin, single
        self._made: dict[tuple[str, int], Tensor | Pair] = {}

    @classmethod
    def whole(cls, count: int, device: torch.device | str | None = None, dtype: torch.dtype = torch.float32) -> At:
        """Positions 0 to count - 1 at once, with nothing before them or after: counted from the middle.

        `dtype` is that of the content beside which lanes will stand; where autocast rules, it need not be given.
        """
        positions = torch.arange(count, device=device)
        return cls(positions, origin=count // 2, single=single_products(positions.device, dtype))

    def latest(self, count: int) -> At:
        """The same keys and the last `count` queries; what was made for the keys need not be made again."""
        at = At(self.queries[-count:], self.keys, self.origin, self.single)
        at._made = dict(self._made)
        return at

    def once(self, name: str, positions: Tensor, make: Callable[[Tensor], Made]) -> Made:
        """`make(positions)`, computed by the first layer that asks for `name` and kept for the others."""
        key = (name, id(positions))
        if key not in self._made:
            self._made[key] = make(positions)
        return self._made[key]  # type: ignore[return-value]


class PositionScheme(nn.Module):
    """Attention without any position: the base class is NoPE (arXiv 2305.19466); a scheme overrides what it changes.

    `lanes` dimensions of a head's queries and keys are positions', `content` are not; the kernel's scale is
    1 / sqrt(content).
    """

    lanes: int = 0
    reach: int | None = None  # how many positions it holds exactly; None = no limit
    looks_back: int = 0  # earlier queries and keys that `rotate` takes into one; they are its `before`

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__()
        self.heads, self.layer = config.heads, layer
        self.head_width, self._content = config.head_width, config.content

    @property
    def content(self) -> int:
        """C: what lanes leave of a head, or what the configuration gives it, to which they are then added."""
        return self.head_width - self.lanes if self._content is None else self._content

    @property
    def root(self) -> float:
        """sqrt(content), the factor that query lanes carry because the kernel divides by it."""
        return math.sqrt(self.content)

    def embed(self, x: Tensor, at: At) -> Tensor:
        """(B, T, width) -> the same, before the first block."""
        return x

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        """Content q (B, H, T, C), k (B, H, S, C) -> the same, and what the next call wants to have as `before`."""
        return q, k, None

    def lanes_at(self, at: At) -> Pair | None:
        """Query lanes (H, T, P) and key lanes (H, S, P), or with a leading B: product / `root` = log-prior."""
        return None

    def log_prior(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(H, T, S) float64: the log-prior up to a constant a row, from the very lanes that attention uses."""
        with torch.no_grad():
            lanes = self.lanes_at(At(queries, keys))
            if lanes is None:
                return torch.zeros(self.heads, len(queries), len(keys), dtype=torch.float64, device=queries.device)
            query, key = (side.double() for side in lanes)
            return query @ key.transpose(-1, -2) / self.root

    def kernel(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(H, T, S) float64: what positions alone give to the scores: the log-prior, and what biases add."""
        return self.log_prior(queries, keys)

    def constrain(self) -> None:
        """Puts parameters back where they are allowed to be; called after each optimizer step."""

    def set_step(self, step: int) -> None:
        """Tells the scheme how many optimizer steps have been taken."""
