"""How the model is configured for transformers: the vocabulary and sizes that others ask for, and dnagoat's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import PretrainedConfig

from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig


def model_of(settings: Mapping[str, Any]) -> ModelConfig:
    """The model's configuration as JSON holds it."""
    position = settings["position"]
    momentum = position["momentum"] and MomentumConfig(**position["momentum"])
    return ModelConfig(**{**settings, "position": PositionConfig(**{**position, "momentum": momentum})})


class DnagoatConfig(PretrainedConfig):
    """`dnagoat` has the model's settings (`model`) and what run it is of."""

    model_type = "dnagoat"

    def __init__(self, dnagoat: dict[str, Any] | None = None, **settings: Any) -> None:
        self.dnagoat = dnagoat
        model = (dnagoat or {}).get("model", {})
        settings.setdefault("vocab_size", model.get("classes", 4))  # what is written; N and the start are read alone
        for name, own in (("hidden_size", "width"), ("num_attention_heads", "heads"), ("num_hidden_layers", "layers")):
            settings.setdefault(name, model.get(own))
        settings.setdefault("intermediate_size", model.get("mlp_width"))
        settings.setdefault("max_position_embeddings", model.get("context"))
        settings["tie_word_embeddings"] = False  # the one embedding is read twice, there are no two to tie
        super().__init__(**settings)
