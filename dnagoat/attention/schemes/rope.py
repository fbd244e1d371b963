"""Rotary positions (RoPE, arXiv 2104.09864): pairs of content dimensions turn with the absolute position.

Dimension c is paired with c + C/2, as in GPT-NeoX and Llama.
"""

# B batch, H heads, T positions, C content width

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from dnagoat.attention.schemes.base import At, Pair, PositionScheme, Published
from dnagoat.attention.schemes.settings import Option, Settings
from dnagoat.errors import OptionError

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import ModelConfig


class RopeSettings(Settings):
    rope_base: Annotated[float, Option("rope-base", "Base of RoPE's frequencies.", write="{:g}".format)] = Field(
        10_000.0, gt=1
    )


class Rope(PositionScheme):
    """Turns queries and keys by their positions, frequency base ** (-2c / C) for pair c."""

    settings = RopeSettings
    colours = ("#0072b2", "#5aaef0")
    turns: Tensor  # the frequencies' bits
    published: ClassVar[Published | None] = Published(nll=1.2054, tokens_per_second=138_171, cuda_peak=2.86e9)

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config, layer)
        if self.content % 2:
            raise OptionError(f"a content of {self.content} cannot be turned in pairs, as RoPE does; make it even")
        self.base = self.settings_as(RopeSettings).rope_base
        self.turn(self.content // 2)

    def turn(self, pairs: int) -> None:
        """Makes it turn so many pairs of dimensions; those of its content, if nobody says otherwise."""
        from dnagoat.attention.lanes.sinusoids import as_bits

        self.register_buffer("turns", as_bits(self.ladder(pairs)), persistent=False)

    def ladder(self, pairs: int) -> Tensor:
        """(C / 2,) radians a base, float64."""
        from dnagoat.attention.lanes.sinusoids import ladder

        return ladder(pairs, self.base)

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        import torch

        from dnagoat.attention.lanes.rotation import turned
        from dnagoat.attention.lanes.sinusoids import from_bits, waves

        def make(positions: Tensor) -> Pair:
            precise = torch.promote_types(q.dtype, torch.float32)
            cosine, sine = waves(positions, from_bits(self.turns), precise)
            return cosine.unsqueeze(-3), sine.unsqueeze(-3)

        return (
            turned(q, *at.once("rope", at.queries, make)),
            turned(k, *at.once("rope", at.keys, make)),
            None,
        )

    def exact_content(self, x: Tensor, positions: Tensor, side: str) -> Tensor:
        return exact_rotation(x, positions, exact_ladder(x.shape[-1], self.base))


def exact_ladder(width: int, base: float) -> Tensor:
    """Radians a base of pair c, base^(-2c/C), written out."""
    import torch

    return base ** (-2 * torch.arange(width // 2).double() / width)


def exact_rotation(x: Tensor, positions: Tensor, frequencies: Tensor) -> Tensor:
    """RoPE as a complex product: x_c + i x_(c + C/2) times exp(i position w_c)."""
    import torch

    half = x.shape[-1] // 2
    angles = positions.double()[:, None] * frequencies.to(x.device)
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)
