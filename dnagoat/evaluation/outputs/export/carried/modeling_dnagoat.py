"""dnagoat's model as transformers calls it: `forward` with a cache and a loss, and `generate`."""

# B batch, T symbols

from __future__ import annotations

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from dnagoat.attention.cache import Cache
from dnagoat.evaluation.outputs.export.carried.configuration_dnagoat import DnagoatConfig, model_of
from dnagoat.model.transformer import DnaLM


class Held:
    """dnagoat's cache, with as much room as is asked for."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    def grow(self, count: int, reach: int | None) -> None:
        """Room for `count` symbols more; twice what is needed, so that it is seldom asked for."""
        needed = self.cache.length + count
        if needed > self.cache.capacity:
            most = 2 * needed if reach is None else max(needed, min(2 * needed, reach))
            self.cache = self.cache.branched(1, most - self.cache.length)

    def get_seq_length(self, layer: int = 0) -> int:
        return self.cache.length

    def reorder_cache(self, beams: Tensor) -> None:
        """Sequence i goes on from what `beams`[i] had read."""
        cache = self.cache
        cache.k, cache.v = cache.k[:, beams], cache.v[:, beams]
        cache.before = [None if pair is None else (pair[0][beams], pair[1][beams]) for pair in cache.before]

    is_compileable = is_croppable = False
    is_linear = (False,)


# Outputs call what is kept `past_key_values`, and from transformers 5.2x on `cache`.
KEPT = next(field.name for field in fields(CausalLMOutputWithPast) if field.name in ("cache", "past_key_values"))


class DnagoatForCausalLM(PreTrainedModel, GenerationMixin):
    """Codes A 0, C 1, G 2, T 3, N 4 and the start symbol 5, with which every sequence begins; logits over A, C, G, T
    (and N, where the model was trained to say it)."""

    config_class = DnagoatConfig
    main_input_name = "input_ids"
    _supports_cache_class = True
    _is_stateful = True  # its cache cannot be cut back

    def __init__(self, config: DnagoatConfig) -> None:
        super().__init__(config)
        self.model = DnaLM(model_of((config.dnagoat or {})["model"]))
        for module in self.model.modules():  # what is no weight is loaded too, so that it need not be made again
            module._non_persistent_buffers_set.clear()
        self.post_init()

    def _init_weights(self, module: torch.nn.Module) -> None:
        """Weights were drawn when the model was made."""

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.model.embedding

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        past_key_values: Held | None = None,
        cache: Held | None = None,
        use_cache: bool | None = None,
        return_dict: bool | None = None,
        **_: Any,
    ) -> CausalLMOutputWithPast | tuple[Tensor, ...]:
        """(B, T) codes -> (B, T, classes) logits. `labels` are the codes themselves, -100 where nothing is scored.

        A ValueError where a mask hides anything but the ends of sequences: positions are counted from the first symbol.
        """
        held = past_key_values if cache is None else cache
        _check_mask(attention_mask, whole=held is not None or bool(use_cache))
        if held is None and use_cache:
            weight = self.model.embedding.weight
            held = Held(Cache(self.model.config, len(input_ids), input_ids.shape[1], weight.device, weight.dtype))
        if held is not None:
            held.grow(input_ids.shape[1], next(self.model.attentions()).scheme.reach)
        logits = self.model(input_ids, None if held is None else held.cache)
        loss = None if labels is None else _loss(logits, labels)
        output = CausalLMOutputWithPast(loss=loss, logits=logits, **{KEPT: held})
        return output.to_tuple() if return_dict is False else output

    def prepare_inputs_for_generation(
        self,
        input_ids: Tensor,
        past_key_values: Held | None = None,
        cache: Held | None = None,
        attention_mask: Tensor | None = None,
        use_cache: bool | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        held = past_key_values if cache is None else cache
        new = input_ids if held is None else input_ids[:, held.get_seq_length() :]
        return {"input_ids": new, "attention_mask": attention_mask, "cache": held, "use_cache": use_cache}

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        """It makes a cache of its own: positions and short convolutions are in it too."""
        return False


def _check_mask(mask: Tensor | None, *, whole: bool) -> None:
    if mask is None:
        return
    if whole and not bool(mask.all()):
        raise ValueError("sequences that are continued must be of one length, without padding; give them by length")
    if bool((mask[:, 1:] > mask[:, :-1]).any()):
        raise ValueError("padding may follow a sequence, not come before it; set padding_side='right'")


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean nats a scored base; what is no class (N, the start symbol) is not scored."""
    targets = labels[:, 1:].clone()
    targets[targets >= logits.shape[-1]] = -100
    return cross_entropy(logits[:, :-1].flatten(0, 1).float(), targets.flatten(), ignore_index=-100)
