"""What a run is called in a report: its arm, the configuration without the seed, told apart by what differs."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from dnagoat.config import RunConfig

# A seed does not make another arm; neither does anything that leaves the trained weights what they are.
NOT_AN_ARM = {
    "format", "preset", "dataset", "tool_version", "train.seed", "train.keep", "train.checkpoint_every",
    "train.micro_batch", "model.kernel",
}  # fmt: skip
SHORT = {"train.lr": "lr", "train.steps": "steps", "train.batch_size": "batch", "dataset_hash": "data"}


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
    return name


def labels(configs: Sequence[RunConfig]) -> list[str]:
    """One label a run: runs that differ in the seed alone share it; others of one scheme say in what they differ."""
    flat = [_settings(config) for config in configs]
    names = [scheme(config) for config in configs]
    return [_told_apart(index, names, flat) for index in range(len(configs))]


def _told_apart(index: int, names: list[str], flat: list[dict[str, Any]]) -> str:
    rivals = [other for name, other in zip(names, flat, strict=True) if name == names[index]]
    fields = [field for field in flat[index] if any(other.get(field) != flat[index][field] for other in rivals)]
    if not fields:
        return names[index]
    shown = [f"{SHORT.get(field, field.rpartition('.')[2])} {_brief(flat[index][field])}" for field in fields[:3]]
    return f"{names[index]} ({', '.join(shown)})"


def _settings(config: RunConfig) -> dict[str, Any]:
    return {path: value for path, value in config.leaves().items() if path not in NOT_AN_ARM}


def _brief(value: Any) -> str:
    text = "/".join("-" if part is None else _brief(part) for part in value) if isinstance(value, list) else str(value)
    return text if len(text) <= 24 else f"{text[:12]}… {sha256(text.encode()).hexdigest()[:4]}"
