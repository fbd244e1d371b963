"""How two arms get the same number of parameters: the MLP takes up what lanes and priors cost or save."""

from __future__ import annotations

import torch

from dnagoat.attention.schemes.registry import PLAIN
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.errors import OptionError
from dnagoat.model.transformer import DnaLM


def count(config: ModelConfig) -> int:
    """Parameters of a model, tied ones once; nothing is allocated."""
    with torch.device("meta"):
        model = DnaLM(config)
    return sum(parameter.numel() for parameter in model.parameters())


def matched(config: ModelConfig, reference: ModelConfig | None = None) -> ModelConfig:
    """The configuration with the MLP width that comes nearest to the reference's number of parameters (plain RoPE of
    the same size, where none is given); the rest is less than one column of every MLP."""
    reference = reference or config.but(position=PositionConfig(name=PLAIN), content=None)
    wanted = count(reference)
    column = 2 * config.width * config.layers  # one hidden unit in every layer: a row up and a column down
    width = config.mlp_width + round((wanted - count(config)) / column)
    if width < 1:
        raise OptionError(f"--match-parameters: {wanted:,} parameters are too few for these positions; drop the option")
    return config.but(mlp_width=width)
