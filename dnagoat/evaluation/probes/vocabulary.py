"""The language model over any vocabulary: the product's own blocks, with an embedding of another size."""

from __future__ import annotations

from torch import nn

from dnagoat.config import ModelConfig
from dnagoat.model.initial import initialise
from dnagoat.model.transformer import DnaLM


class TokenLM(DnaLM):
    """(B, T) tokens below `vocabulary` -> (B, T, vocabulary) logits of what comes next; no start symbol."""

    def __init__(self, config: ModelConfig, vocabulary: int, seed: int = 0) -> None:
        super().__init__(config, seed=None)
        self.embedding = nn.Embedding(vocabulary, config.width)
        self.classes = vocabulary
        initialise(self, seed)
