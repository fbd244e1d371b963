"""One position scheme of the library for attention of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dnagoat.attention.schemes.base import PositionScheme


def position_scheme(
    arm: str, *, heads: int, head_width: int = 64, context: int = 1024, layer: int = 0, seed: int = 0
) -> PositionScheme:
    """The torch module of a position scheme, as layer number `layer` of a model has it, started from `seed`.

    `arm` names it as in `compare`: rope, goat:spectral+sink, t5@buckets=16. `head_width` counts the dimensions of a
    head, `context` the bases of training. `factors(queries, keys)` are lanes whose product is its log-prior in nats,
    `rotate` and `bias` are what else it may do; positions may be any numbers. Errors: `OptionError` (the arm, or lanes
    that do not fit the head).
    """
    from dnagoat.config import ModelConfig
    from dnagoat.evaluation.comparison.arms import position_of
    from dnagoat.model.transformer import DnaLM

    config = ModelConfig(
        width=heads * head_width,
        heads=heads,
        layers=layer + 1,
        mlp_width=1,
        context=context,
        position=position_of(arm),
    )
    return [*DnaLM(config, seed).attentions()][layer].scheme
