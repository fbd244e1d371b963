"""How the GOAT authors' module takes the place of our attention: the same transformer around it, to compare cost.

The module is the package goat-attention 0.1.1 (MIT), needed in development alone; nothing of it is copied here. The arm
that is equal to it but for its lanes is `goat` in the authors' form, which preset `paper` has.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from torch import Tensor, nn

from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig
from dnagoat.errors import MissingError, OptionError

if TYPE_CHECKING:
    from dnagoat.attention.cache import Cache
    from dnagoat.model.transformer import DnaLM


DISTRIBUTION, VERSION = "goat-attention", "0.1.1"


def installed() -> str | None:
    """The version of the authors' distribution; None where there is none, whatever else is called `goat`."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def refuse_other() -> None:
    """A `MissingError` unless the authors' module is there in the version that is measured."""
    if (found := installed()) != VERSION:
        there = f"{found} is installed" if found else "it is not installed"
        raise MissingError(
            f"the arm goat-attention needs that package at {VERSION}, and {there}; "
            f"`pip install --no-deps {DISTRIBUTION}=={VERSION}`"
        )


class PeerAttention(nn.Module):
    """Causal self-attention by the authors' module, with the same rank, sink frequencies and training length."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        refuse_other()
        from goat import GoatAttention

        self.scheme = PositionScheme(config, layer)
        goat = self.scheme.settings_as(GoatConfig)
        self.theirs = GoatAttention(
            config.width,
            config.heads,
            bias=False,
            batch_first=True,
            pos_rank=goat.rank,
            abs_rank=goat.sink_frequencies,
            training_seq_len=config.context,
        )

    def forward(self, x: Tensor, at: At, cache: Cache | None = None) -> Tensor:
        """(B, T, width) -> (B, T, width)."""
        if cache is not None:
            raise OptionError("goat-attention is measured in training and evaluation; leave it out of --what generate")
        y, _ = self.theirs(x, x, x, is_causal=True, need_weights=False)
        return y  # type: ignore[no-any-return]


def put_peer(model: DnaLM) -> None:
    """Replaces every layer's attention, on the device where the model is."""
    device = model.embedding.weight.device
    for layer, block in enumerate(model.blocks):
        block.attention = PeerAttention(model.config, layer).to(device)
