"""What a run is called in a report: its arm, the configuration without the seed, told apart by what differs."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from dnagoat.config import REMEMBERED, ModelConfig, RunConfig

# A seed does not make another arm; neither does anything that leaves the trained weights what they are.
NOT_AN_ARM = {
    "format", "preset", "dataset", "dataset_places", "memory_tables", "tool_version", "train.seed", "train.keep",
    "train.checkpoint_every", "train.micro_batch", "model.kernel",
}  # fmt: skip
SHORT = {"train.lr": "lr", "train.steps": "steps", "train.batch_size": "batch", "dataset_hash": "data"}
CONTENT = "model.content"


def scheme(config: RunConfig) -> str:
    """The position scheme in one word, as the command line names it: `goat:spectral+sink`, `rope+momentum`, ..."""
    position = config.model.position
    name = position.settings.called(position.name)
    if position.momentum is not None and position.momentum.strength > 0:
        name += "+momentum"
    if position.convolution is not None:
        name += "+convolution"
    if config.model.normaliser != "softmax":
        name += f" {config.model.normaliser}"
    if memory := config.model.memory:
        name += "@memory" if memory == REMEMBERED else f"@memory={'+'.join(memory)}"
    return name


def labels(configs: Sequence[RunConfig]) -> list[str]:
    """One label a run: runs that differ in the seed alone share it; others of one scheme say in what they differ."""
    flat = _settings(configs)
    names = [scheme(config) for config in configs]
    return [_told_apart(index, names, flat) for index in range(len(configs))]


def _told_apart(index: int, names: list[str], flat: list[dict[str, Any]]) -> str:
    rivals = [other for name, other in zip(names, flat, strict=True) if name == names[index]]
    fields = [field for field in flat[index] if any(other.get(field) != flat[index][field] for other in rivals)]
    if not fields:
        return names[index]
    shown = [_in_words(field, flat[index][field]) for field in fields[:3]]
    return f"{names[index]} ({', '.join(shown)})"


def _settings(configs: Sequence[RunConfig]) -> list[dict[str, Any]]:
    """What may tell these arms apart, by path; a width of content that nobody gave is what the lanes leave."""
    flat = [{path: value for path, value in each.leaves().items() if path not in NOT_AN_ARM} for each in configs]
    if len({each[CONTENT] for each in flat}) > 1:
        flat = [{**each, CONTENT: _content(config.model)} for each, config in zip(flat, configs, strict=True)]
    return flat


def _content(model: ModelConfig) -> int:
    import torch  # which a report needs for this alone

    from dnagoat.attention.schemes.registry import scheme_for

    with torch.device("meta"):
        return scheme_for(model, 0).content


def _in_words(field: str, value: Any) -> str:
    """`lr 0.001`, `learn periods`, `no memory`: a switch that is on needs no more than its name."""
    words = SHORT.get(field, field.rpartition(".")[2].replace("_", " "))
    if field == "model.position.momentum.layers":
        return f"momentum in layers {_brief(value)}" if value else "momentum in all layers"
    if value is None or value is False or value == []:
        return f"no {words}"
    return words if value is True else f"{words} {_brief(value)}"


def _brief(value: Any) -> str:
    text = "/".join("-" if part is None else _brief(part) for part in value) if isinstance(value, list) else str(value)
    return text if len(text) <= 24 else f"{text[:12]}… {sha256(text.encode()).hexdigest()[:4]}"
