"""What an arm of a comparison is called, and which configuration that means.

NAME[:PART+PART...][@SETTING=VALUE]...     rope, goat:spectral+sink, goat@init=uniform, goat@memory
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from dnagoat.config import Family, MomentumConfig, RunConfig
from dnagoat.errors import OptionError
from dnagoat.training.presets import GOAT, LADDER, changed, distances_named, refuse_idle
from dnagoat.training.step.matching import matched


def _periods(text: str) -> dict[str, Any]:
    values = tuple(float(part) for part in text.split("/"))
    return {GOAT + "periods": values, GOAT + "rank": len(values)}


# What may follow an @: the fields that a value sets.
SETTINGS: dict[str, Callable[[str], dict[str, Any]]] = {
    "form": lambda text: {GOAT + "form": text},
    "init": lambda text: {GOAT + "init": text},
    "distances": distances_named,
    "amplitude": lambda text: {GOAT + "amplitude": float(text)},
    "rank": lambda text: {GOAT + "rank": int(text), GOAT + "periods": LADDER},
    "periods": _periods,
    "sink-width": lambda text: {GOAT + "sink_width": int(text)},
    "rope-base": lambda text: {"model.position.rope_base": float(text)},
    "momentum": lambda text: {"model.position.momentum": MomentumConfig(strength=float(text))},
    "convolution": lambda text: {"model.position.convolution": int(text)},
    "content": lambda text: {"model.content": int(text)},
    "memory": lambda text: {"model.memory": tuple(re.split(r"[+,]", text))},
    "heads": lambda text: {"model.heads": int(text)},
    "normaliser": lambda text: {"model.normaliser": text},
    "prior-lr-scale": lambda text: {"train.prior_lr_scale": float(text)},
    "recipe": lambda text: {"train.recipe": text},
    "lr": lambda text: {"train.lr": float(text)},
}

ALONE = {"memory": "+".join(get_args(Family))}  # what a setting means that is given no value


def options(arm: str) -> dict[str, Any]:
    """The fields that an arm sets; an `OptionError` says what is wrong with its name."""
    scheme, *settings = arm.split("@")
    name, _, parts = scheme.partition(":")
    chosen: dict[str, Any] = {"model.position.name": name}
    if parts:
        if not name.startswith("goat"):
            raise OptionError(f"--arm {arm}: {name} has no parts; parts follow goat, as in goat:spectral+sink")
        chosen[GOAT + "parts"] = tuple(re.split(r"[+,]", parts))
    for setting in settings:
        chosen |= _setting(arm, setting)
    return chosen


def _setting(arm: str, setting: str) -> dict[str, Any]:
    key, _, value = setting.partition("=")
    value = value or ALONE.get(setting, "")
    if key not in SETTINGS or not value:
        raise OptionError(f"--arm {arm}: @{setting} is none of @{'=, @'.join(SETTINGS)}=")
    try:
        return SETTINGS[key](value)
    except ValueError:
        raise OptionError(f"--arm {arm}: {value} cannot be read as {key}") from None


def of_arm(base: RunConfig, arm: str, *, seed: int, lr: float | None = None, match: bool = False) -> RunConfig:
    """The configuration of one run of an arm: the base's, with the arm's positions, a seed, and a learning rate."""
    config = changed(base, {**options(arm), "train.seed": seed} | ({} if lr is None else {"train.lr": lr}))
    refuse_idle(config.model.position.name, options(arm))
    return config.but(model=matched(config.model)) if match else config


def run_folder(out: Path, arm: str, seed: int, lr: float | None = None) -> Path:
    """OUT/goat-spectral-s0, OUT/rope-lr0.001-s2, ...: names that every file system takes, one an arm."""
    name = re.sub(r"[^A-Za-z0-9.+]+", "-", arm)
    if re.search("=[^@]*[/,]", arm):  # a list, whose separators the name has lost
        name += "-" + sha256(arm.encode()).hexdigest()[:6]
    return out / "-".join([name, *([] if lr is None else [f"lr{lr:g}"]), f"s{seed}"])
