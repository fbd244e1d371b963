"""What an arm of a comparison is called, and which configuration that means.

NAME[:PART+PART...][@SETTING=VALUE]...     rope, goat:spectral+sink, goat@init=uniform, goat@memory
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from dnagoat.attention.schemes.registry import owners, scheme_named
from dnagoat.config import REMEMBERED, MomentumConfig, PositionConfig, RunConfig
from dnagoat.errors import FieldError, OptionError
from dnagoat.training.presets import NAME, SETTINGS, changed, read_settings
from dnagoat.training.step.matching import matched

# What may follow an @ in any arm, beside the settings of its scheme: the field that a value sets.
EVERY: dict[str, tuple[str, Callable[[str], Any]]] = {
    "momentum": ("model.position.momentum", lambda text: MomentumConfig(strength=float(text))),
    "convolution": ("model.position.convolution", int),
    "content": ("model.content", int),
    "memory": ("model.memory", lambda text: tuple(re.split("[+,]", text))),
    "heads": ("model.heads", int),
    "normaliser": ("model.normaliser", str),
    "prior-lr-scale": ("train.prior_lr_scale", float),
    "recipe": ("train.recipe", str),
    "lr": ("train.lr", float),
}

ALONE = {"memory": "+".join(REMEMBERED)}  # what a setting means that is given no value


def options(arm: str) -> dict[str, Any]:
    """The fields that an arm sets; an `OptionError` says what is wrong with its name."""
    scheme, *settings = arm.split("@")
    name, _, parts = scheme.partition(":")
    declared = scheme_named(name).settings
    chosen: dict[str, Any] = {NAME: name}
    if parts:
        if declared.field_of("parts") is None:
            some = " or ".join(owners("parts"))
            raise OptionError(f"--arm {arm}: {name} has no parts; parts follow {some}, as in goat:spectral+sink")
        chosen[SETTINGS + "parts"] = declared.read("parts", parts)
    for setting in settings:
        key, _, value = setting.partition("=")
        value = value or ALONE.get(setting, "")
        field = declared.field_of(key)
        if not value or (field is None and key not in EVERY and not owners(key)):
            known = [*(each.replace("_", "-") for each in declared.options()), *EVERY]
            raise OptionError(f"--arm {arm}: @{setting} is none of @{'=, @'.join(known)}=")
        try:
            if key in EVERY:
                path, read = EVERY[key]
                chosen[path] = read(value)
            else:
                chosen[SETTINGS + (field or key)] = declared.read(field, value) if field else value
        except ValueError:
            raise OptionError(f"--arm {arm}: {value} cannot be read as {key}") from None
    return chosen


def position_of(arm: str) -> PositionConfig:
    """The position scheme of an arm that sets nothing else."""
    chosen = options(arm)
    name = chosen.pop(NAME)
    if others := [path for path in chosen if not path.startswith(SETTINGS)]:
        raise OptionError(f"{arm}: {others[0].rpartition('.')[2]} is not of a scheme's own settings; leave it out")
    values = read_settings(name, {path.removeprefix(SETTINGS): value for path, value in chosen.items()})
    return PositionConfig(name=name, settings=scheme_named(name).settings().given(values))


def of_arm(base: RunConfig, arm: str | None, *, seed: int, lr: float | None = None, match: bool = False) -> RunConfig:
    """The configuration of one run of an arm: the base's, with the arm's positions, a seed, and a learning rate.

    None is the base's own arm.
    """
    try:
        config = changed(
            base, {**(options(arm) if arm else {}), "train.seed": seed} | ({} if lr is None else {"train.lr": lr})
        )
    except FieldError as fault:
        raise OptionError(f"--arm {arm}: {fault}") from None
    return config.but(model=matched(config.model)) if match else config


def run_folder(out: Path, arm: str, seed: int, lr: float | None = None) -> Path:
    """OUT/goat-spectral-s0, OUT/rope-lr0.001-s2, ...: names that every file system takes, one an arm."""
    name = re.sub(r"[^A-Za-z0-9.+]+", "-", arm)
    if re.search("=[^@]*[/,]", arm):  # a list, whose separators the name has lost
        name += "-" + sha256(arm.encode()).hexdigest()[:6]
    return out / "-".join([name, *([] if lr is None else [f"lr{lr:g}"]), f"s{seed}"])
