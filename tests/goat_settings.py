"""The settings of GOAT in a configuration, as the class that they are."""

from __future__ import annotations

from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.waves import WaveSettings
from dnagoat.config import ModelConfig


def goat_settings(model: ModelConfig) -> GoatConfig:
    """The settings of a model whose scheme is GOAT's."""
    assert isinstance(model.position.settings, GoatConfig)
    return model.position.settings


def wave_settings(model: ModelConfig) -> WaveSettings:
    """The settings of a model whose scheme has waves: GOAT, or RoPE with biases."""
    assert isinstance(model.position.settings, WaveSettings)
    return model.position.settings
