"""What an arm of a comparison is called, and which configuration that means.

[NAME=]SCHEME[:PART+PART...][@SETTING=VALUE]...     rope, goat:spectral+sink, goat@init=uniform, goat@memory,
                                                    published GOAT=goat@init=seeded@rank=4
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from dnagoat.attention.schemes.registry import SCHEMES, owners, scheme_named
from dnagoat.attention.schemes.settings import Settings
from dnagoat.config import REMEMBERED, MomentumConfig, PositionConfig, RunConfig
from dnagoat.errors import FieldError, OptionError
from dnagoat.training.presets import NAME, PRESETS, SETTINGS, changed, configure, own_rate, read_settings

# What may follow an @ in any arm, beside the settings of its scheme: the field that a value sets.
EVERY: dict[str, tuple[str, Callable[[str], Any]]] = {
    "momentum": ("model.position.momentum", lambda text: MomentumConfig(strength=float(text))),
    "convolution": ("model.position.convolution", int),
    "gate": ("model.position.gate", str),
    "content": ("model.content", int),
    "memory": ("model.memory", lambda text: tuple(re.split("[+,]", text))),
    "heads": ("model.heads", int),
    "normaliser": ("model.normaliser", str),
    "prior-lr-scale": ("train.prior_lr_scale", float),
    "recipe": ("train.recipe", str),
    "optimizer": ("train.optimizer", str),
    "lr": ("train.lr", float),
}

ALONE = {"memory": "+".join(REMEMBERED), "gate": "True"}  # what a setting means that is given no value

COMPARISON = "comparison.json"  # beside the run folders of a comparison
LONGEST = 80  # letters of a name
FOLDER = 40  # letters of it that a folder's name keeps
CONTENT = "model.content"
# A seed does not make another arm; neither does anything that leaves the trained weights what they are.
NOT_AN_ARM = {
    "format", "name", "dataset", "dataset_places", "memory_tables", "tool_version", "train.seed", "train.keep",
    "train.checkpoint_every", "train.micro_batch", "model.kernel", "origin.step", "origin.dataset",
    "origin.dataset_hash",
}  # fmt: skip


@dataclass(frozen=True)
class NamedArm:
    """A setting, and the name that a person gave it; an `OptionError` where that cannot be a name."""

    setting: str
    name: str | None = None

    def __post_init__(self) -> None:
        if self.name is None:
            return
        wrong = (
            "is empty"
            if not self.name
            else f"has {len(self.name)} letters, more than {LONGEST}"
            if len(self.name) > LONGEST
            else "has a letter that cannot be printed"
            if not self.name.isprintable()
            else "has a $, which figures read as the start of a formula"
            if "$" in self.name
            else "begins with _"  # what figures leave out of their legends
            if self.name.startswith("_")
            else ""
        )
        if wrong:
            raise OptionError(f"--arm {self.name!r}={self.setting}: the name {wrong}; give another")

    def __str__(self) -> str:
        return self.setting if self.name is None else f"{self.name}={self.setting}"


def read_arm(text: str) -> NamedArm:
    """`published GOAT=goat@init=seeded` has the name `published GOAT`; commas and equals signs may stand in it."""
    scheme = "|".join(re.escape(name) for name in sorted(SCHEMES, key=len, reverse=True))
    setting = re.compile(f"(?:{scheme})(?::[^=@]*)?(?:@.*)?$", re.DOTALL)
    if setting.match(text):
        return NamedArm(text)
    equals = [place.start() for place in re.finditer("=", text)]
    ends = [place for place in equals if setting.match(text, place + 1)]
    before = re.search("[@:]", text)  # of a setting that is none, and the sentence about it is another's
    ends = ends or [place for place in equals if before is None or place < before.start()][-1:]
    return NamedArm(text[ends[0] + 1 :], text[: ends[0]].strip()) if ends else NamedArm(text)


def read_arms(arms: Sequence[str] | Mapping[str, str]) -> list[NamedArm]:
    """Arms as texts, or settings by their names."""
    if isinstance(arms, Mapping):
        return [NamedArm(setting, name.strip()) for name, setting in arms.items()]
    return [read_arm(text) for text in arms]


def options(arm: str) -> dict[str, Any]:
    """The fields that an arm's setting gives; an `OptionError` says what is wrong with it."""
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
        there_is = field is not None or key in EVERY or owners(key)
        if there_is and not value:
            raise OptionError(f"--arm {arm}: @{key} wants a value, as @{key}=...")
        if not there_is:
            known = [*(each.replace("_", "-") for each in declared.options()), *EVERY]
            raise OptionError(f"--arm {arm}: @{setting} is none of @{'=, @'.join(known)}=")
        path, read = EVERY.get(key, (SETTINGS + (field or key), partial(declared.read, field) if field else str))
        if path in chosen:
            raise OptionError(f"--arm {arm}: @{key} is given twice; leave one out")
        try:
            chosen[path] = read(value)
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


def of_arm(
    base: RunConfig, arm: str | NamedArm | None, *, seed: int, lr: float | None = None, match: bool = False
) -> RunConfig:
    """The configuration of one run of an arm: the base's, with the arm's positions, a seed, and a learning rate.

    None is the base's own arm.
    """
    named = read_arm(arm) if isinstance(arm, str) else arm or NamedArm("")
    try:
        config = changed(
            base,
            {
                **(options(named.setting) if named.setting else {}),
                "train.seed": seed,
                "name": named.name,
                **({} if lr is None else {"train.lr": lr}),
            },
        )
    except FieldError as fault:
        raise OptionError(f"--arm {named.setting}: {fault}") from None
    if not match:
        return config
    from dnagoat.training.step.matching import matched  # needs torch, which a report does not

    return config.but(model=matched(config.model))


def told_of(config: RunConfig) -> dict[str, Any]:
    """What was told of an arm beside its preset, by path, as JSON writes it: of the scheme's settings as few as bring
    the others with them, of the rest all that is not as the preset has it. `setting_of` puts the same in a line."""
    plain = _plain(config)
    here, there = config.leaves(), {**plain.leaves(), "train.lr": own_rate(plain.preset, config.train.optimizer)}
    told = {NAME: here[NAME]} | {SETTINGS + field: here[SETTINGS + field] for field in _given(config, plain)}
    others = [path for path in here if not path.startswith(SETTINGS) and path not in NOT_AN_ARM]
    return told | {path: here[path] for path in others if here[path] != there.get(path)}


def setting_of(config: RunConfig) -> str:
    """What `--arm` says of a configuration beside its preset: `goat@init=seeded@rank=4`."""
    position, told = config.model.position, told_of(config)
    declared = position.settings.options()
    values = {field: getattr(position.settings, field) for field in declared if SETTINGS + field in told}
    parts = f":{'+'.join(values.pop('parts'))}" if "parts" in values else ""
    said = [f"{field.replace('_', '-')}={declared[field].write(value)}" for field, value in values.items()]
    for key, (path, _) in EVERY.items():
        value = told.get(path, told.get(f"{path}.strength"))
        if value:
            text = "+".join(value) if isinstance(value, list) else str(value)
            said.append(key if ALONE.get(key) == text else f"{key}={text}")
    return "@".join([position.name + parts, *said])


def _given(config: RunConfig, plain: RunConfig) -> dict[str, Any]:
    """The scheme's fields that have to be given for the plain settings to become these: first what brings the most."""
    target, start = config.model.position.settings, plain.model.position.settings
    values: dict[str, Any] = {}
    while lacking := _apart(start, values, target):
        asked = [name for name in lacking if name in target.options() and getattr(target, name) is not None]
        left = {name: _apart(start, {**values, name: getattr(target, name)}, target) for name in asked}
        alone = [name for name in asked if left[name] is not None]
        if not alone:
            break
        best = min(alone, key=lambda name: len(left[name] or ()))
        values[best] = getattr(target, best)
    # What a word says is said, whether or not another field brings it: a start, a form.
    words = {name: word for name in target.options() if isinstance(word := getattr(target, name), str)}
    values |= {name: word for name, word in words.items() if word != getattr(start, name)}
    return {name: values[name] for name in target.options() if name in values}


def _apart(start: Settings, values: Mapping[str, Any], target: Settings) -> list[str] | None:
    """The fields in which settings with these values given are not yet the target; None where they do not go alone."""
    try:
        made = start.given(values)
    except OptionError:
        return None
    return [name for name in type(target).model_fields if getattr(made, name) != getattr(target, name)]


def _plain(config: RunConfig) -> RunConfig:
    """The preset with the same scheme, and nothing else asked of it."""
    preset = config.preset if config.preset in PRESETS else RunConfig.model_fields["preset"].default
    return configure(preset, "", "", config.model.context, {NAME: config.model.position.name})


def run_folder(out: Path, arm: str | NamedArm, seed: int, lr: float | None = None) -> Path:
    """OUT/goat-spectral-s0, OUT/rope-lr0.001-s2, ...: names that every file system takes, one an arm."""
    named = read_arm(arm) if isinstance(arm, str) else arm
    folder = _of_setting(named.setting) if named.name is None else _of_name(named.name)
    return out / "-".join([folder, *([] if lr is None else [f"lr{lr:g}"]), f"s{seed}"])


def _of_setting(setting: str) -> str:
    folder = re.sub(r"[^A-Za-z0-9.+]+", "-", setting)
    if re.search("=[^@]*[/,]", setting):  # a list, whose separators the name has lost
        folder += "-" + sha256(setting.encode()).hexdigest()[:6]
    return folder


def _of_name(name: str) -> str:
    """The letters, digits and points of a name, and a mark of it where that is not all of it but its spaces."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    folder = re.sub(r"[^A-Za-z0-9.+]+", "-", letters).strip("-.")[:FOLDER].strip("-.")
    if "-" in name or folder != name.replace(" ", "-"):
        folder = f"{folder or 'arm'}-{sha256(name.encode()).hexdigest()[:6]}"
    return folder
