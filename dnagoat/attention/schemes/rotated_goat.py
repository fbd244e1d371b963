"""GOAT's prior over content that RoPE has turned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dnagoat.attention.schemes.base import At, Pair
from dnagoat.attention.schemes.goat import Goat, GoatConfig
from dnagoat.attention.schemes.rope import Rope, RopeSettings

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import ModelConfig


class RotatedGoatSettings(GoatConfig, RopeSettings):
    """Both schemes' settings."""

    proofs = ({"parts": ("spectral", "sink")}, {}, {"form": "authors"})


class RotatedGoat(Goat):
    settings = RotatedGoatSettings
    colours = ("#b98a46", "#fcc73f")
    published = None

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        self.rope = Rope(config, layer)
        self.rope.turn(self.content // 2)  # what the lanes leave

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        return self.rope.rotate(q, k, at, before)

    def exact_content(self, x: Tensor, positions: Tensor, side: str) -> Tensor:
        return self.rope.exact_content(x, positions, side)
