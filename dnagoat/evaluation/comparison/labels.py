"""What an arm is called: the name that it was given, else its scheme and what tells it from others of that scheme.

    goat, goat (seeded, rank 4), rope (lr 0.003), goat:spectral (memory)

Seeds of one arm share a label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from dnagoat.config import REMEMBERED, RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.comparison.arms import CONTENT, NamedArm, told_of
from dnagoat.training.presets import NAME, SETTINGS
from dnagoat.wording import counted

# What is said though no other arm of that scheme lacks it: components of a model, and what moves its weights where that
# is not the same for all.
COMPONENTS = (
    "model.memory",
    "model.position.momentum.strength",
    "model.position.convolution",
    "model.position.gate",
    "model.normaliser",
)
TRAINING = ("train.optimizer", "train.recipe")
SHORT = {"train.batch_size": "batch", "dataset_hash": "data"}
FEW = 3  # what is said of an arm where that is enough

Given = dict[str, Any]


def labels(configs: Sequence[RunConfig]) -> list[str]:
    """One label a configuration; those that differ in nothing but the seed share it."""
    told = _with_content(configs, [told_of(config) for config in configs])
    bases = [scheme(config) if config.name is None else config.name for config in configs]
    rivals = [
        [other for other, own, config in zip(told, bases, configs, strict=True) if _rival(own, config, base, mine)]
        for base, mine in zip(bases, configs, strict=True)
    ]
    always = [*COMPONENTS, *(path for path in TRAINING if len({own.get(path) for own in told}) > 1)]
    whole = [
        _extras(own, among, always if config.name is None else ())
        for own, among, config in zip(told, rivals, configs, strict=True)
    ]
    short = [_joined(base, extras[:FEW]) for base, extras in zip(bases, whole, strict=True)]
    long = [_joined(base, extras) for base, extras in zip(bases, whole, strict=True)]
    made = short if _tell_apart(short, told) else long
    return made if _tell_apart(made, told) else [f"{each} #{_mark(own)}" for each, own in zip(made, told, strict=True)]


def label_arms(arms: Sequence[NamedArm], configs: Sequence[RunConfig]) -> list[str]:
    """The labels of arms that have to be told apart; an `OptionError` where two are one, or would be called the same.

    `configs` are those of one seed.
    """
    own = iter(labels([config for config in configs if config.name is None]))
    made = [next(own) if config.name is None else config.name for config in configs]
    settings = [config.but(name=None) for config in configs]
    for place, arm in enumerate(arms):
        if settings[place] in settings[:place]:
            raise OptionError(f"--arm {arm}: it is {made[settings.index(settings[place])]} again; give each arm once")
        if made[place] in made[:place]:
            raise OptionError(f"--arm {arm}: another arm is called {made[place]}; give one of them another name")
    return made


def scheme(config: RunConfig) -> str:
    """The position scheme as the command line names it, with the parts that it has: `goat:spectral+sink`."""
    position = config.model.position
    return position.settings.called(position.name)


def _rival(base: str, config: RunConfig, other: str, than: RunConfig) -> bool:
    """Whether two have to be told apart: names that were given are their own, and so are those that are made."""
    return base == other and (config.name is None) == (than.name is None)


def _extras(own: Given, rivals: Sequence[Given], always: Collection[str]) -> list[str]:
    said = [path for path in own if path in always]
    said += [path for path in own if path not in said and any(other.get(path) != own[path] for other in rivals)]
    return [words for path in said if (words := _words(path, own[path]))]


def _joined(base: str, extras: Sequence[str]) -> str:
    return f"{base} ({', '.join(extras)})" if extras else base


def _tell_apart(made: Sequence[str], told: Sequence[Given]) -> bool:
    """Whether each label stands for one setting alone."""
    return len(set(made)) == len({(each, _mark(own)) for each, own in zip(made, told, strict=True)})


def _mark(own: Given) -> str:
    return sha256(repr(sorted(own.items())).encode()).hexdigest()[:4]


def _with_content(configs: Sequence[RunConfig], told: list[Given]) -> list[Given]:
    """A width of content that was given and is what the lanes leave anyway tells nothing."""
    return [
        {path: value for path, value in own.items() if path != CONTENT or value != _left(config)}
        for own, config in zip(told, configs, strict=True)
    ]


def _left(config: RunConfig) -> int:
    """Dimensions of a head that the lanes leave."""
    import torch  # which a report needs for this alone

    from dnagoat.attention.schemes.registry import scheme_for

    with torch.device("meta"):
        return scheme_for(config.model.but(content=None), 0).content


def _words(path: str, value: Any) -> str:
    """`lr 0.001`, `learn periods`, `seeded`: a switch and a word that says it all need no name beside them."""
    if path in SPOKEN:
        return SPOKEN[path](value)
    name = SHORT.get(path, path.rpartition(".")[2].replace("_", " "))
    if value is None or value is False or value == []:
        return f"no {name}"
    if value is True:
        return name
    return str(value) if path.startswith(SETTINGS) and isinstance(value, str) else f"{name} {_brief(value)}"


def _brief(value: Any) -> str:
    if isinstance(value, list):
        text = "/".join("-" if part is None else _brief(part) for part in value)
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:12]}… {sha256(text.encode()).hexdigest()[:4]}"


def _memory(families: Sequence[str]) -> str:
    return "memory" if tuple(families) == REMEMBERED else f"memory {'+'.join(families)}"


SPOKEN: dict[str, Callable[[Any], str]] = {
    NAME: lambda name: "",  # the label begins with it
    SETTINGS + "parts": lambda parts: "",
    "preset": str,
    "train.optimizer": str,
    "model.memory": _memory,
    "model.normaliser": str,
    "model.position.momentum.strength": lambda strength: f"momentum {strength:g}",
    "model.position.momentum.layers": lambda layers: f"in layers {_brief(layers)}" if layers else "",
    "model.position.momentum.ramp_steps": lambda steps: f"over {counted(steps, 'step')}" if steps else "",
    "origin.path": lambda path: f"from {Path(path).name}",
    "origin.sha256": lambda text: text[:8],
    "dataset_hash": lambda text: f"data {text[:8]}",
}
