"""Which ready-made sizes there are, and how options given by hand change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from dnagoat import __version__
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.registry import owners, scheme_named
from dnagoat.attention.schemes.settings import Settings
from dnagoat.config import ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.errors import FieldError, OptionError
from dnagoat.frozen import Frozen
from dnagoat.wording import counted

F = TypeVar("F", bound=Frozen)

ADAMW_RATES = {"tiny": 1e-3, "small": 6e-4}  # of the presets whose own rate is Muon's
PRIOR_LR_SCALE = 5.0  # the rate at which the comparisons of experiments/five-arms.md were trained

PRESETS: dict[str, tuple[ModelConfig, TrainConfig]] = {
    # Four heads, though only 32 wide: two of 64 keep a quarter of the lead of heads at distances, and RoPE is as good
    # (experiments/parts-and-settings.md).
    # Muon takes 0.04 to 0.05 nats off every scheme at this rate (experiments/optimizer.md).
    "tiny": (
        ModelConfig(width=128, heads=4, layers=4, mlp_width=512),
        TrainConfig(
            steps=1000,
            batch_size=8,
            optimizer="muon",
            lr=8e-3,
            warmup=50,
            eval_every=100,
            eval_windows=64,
            prior_lr_scale=PRIOR_LR_SCALE,
        ),
    ),
    "small": (
        ModelConfig(width=256, heads=4, layers=6, mlp_width=1024),
        TrainConfig(
            steps=5000,
            batch_size=16,
            optimizer="muon",
            lr=3e-3,
            warmup=200,
            eval_every=250,
            prior_lr_scale=PRIOR_LR_SCALE,
        ),
    ),
    # The authors' genome run: their prior to the letter (see schemes.authors) with R = 2 on the ladder of base 10,000
    # and M = 8, no augmentation, 50 batches of validation. Their AdamW is PyTorch's, betas included. Not theirs: exact
    # lanes, which leave content 52 dimensions of a head instead of 59 (`--content 59` gives them back), and targets
    # A, C, G, T alone after a start symbol (`--score-n` is theirs).
    "paper": (
        ModelConfig(
            width=512,
            heads=8,
            layers=8,
            mlp_width=2048,
            context=1024,
            position=PositionConfig(
                settings=GoatConfig(form="authors", init="seeded", rank=2, periods=None, ladder_base=10_000.0)
            ),
        ),
        TrainConfig(
            steps=1000,
            batch_size=8,
            lr=3e-4,
            warmup=100,
            schedule="cosine",
            weight_decay=0.1,
            betas=(0.9, 0.999),
            clip=1.0,
            precision="bf16",
            reverse_complement=False,
            eval_windows=400,
        ),
    ),
    # AdamW: no rate of Muon is known at this size, and FSDP, which it may want, shards the matrices that Muon needs
    # whole.
    "125m": (
        ModelConfig(width=768, heads=12, layers=12, mlp_width=3072, context=2048),
        TrainConfig(
            steps=20_000,
            batch_size=64,
            lr=6e-4,
            warmup=1000,
            precision="bf16",
            prior_lr_scale=PRIOR_LR_SCALE,
            eval_every=500,
            checkpoint_every=500,
        ),
    ),
}


def preset(name: str) -> tuple[ModelConfig, TrainConfig]:
    """The model and the training of a preset; an `OptionError` lists the names there are."""
    if name not in PRESETS:
        raise OptionError(f"--preset {name}: there are {', '.join(PRESETS)}")
    return PRESETS[name]


def own_rate(name: str, optimizer: str) -> float | None:
    """The learning rate that an optimizer has in a preset when none is given; None of a preset that there is not."""
    if name not in PRESETS:
        return None
    _, train = PRESETS[name]
    return train.lr if optimizer == train.optimizer else ADAMW_RATES.get(name, train.lr)


NAME, SETTINGS = "model.position.name", "model.position.settings."


def configure(name: str, dataset: str, dataset_hash: str, window: int, options: Mapping[str, Any]) -> RunConfig:
    """A run's configuration: the preset, at the dataset's window, changed by options.

    `options` maps a field's path (`model.position.name`, `train.steps`) to a value; None leaves what the preset says.
    """
    model, train = preset(name)
    config = RunConfig(
        preset=name,
        model=model.but(context=window),
        train=train,
        dataset=dataset,
        dataset_hash=dataset_hash,
        tool_version=__version__,
    )
    return changed(config, options)


def changed(config: RunConfig, options: Mapping[str, Any]) -> RunConfig:
    """The configuration with each option that is not None put at its path; those of the scheme bring what goes with
    them, and another optimizer its rate unless one was given. An `OptionError` where an option sets what the scheme
    does not have: it would change nothing."""
    given = {path: value for path, value in options.items() if value is not None}
    tree: dict[str, Any] = {}
    for path, value in given.items():
        if path.startswith(SETTINGS):
            continue
        *parents, leaf = path.split(".")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[leaf] = value
    position = config.model.position
    name = given.get(NAME, position.name)
    settings = position.but(name=name).settings
    asked = {path.removeprefix(SETTINGS): value for path, value in given.items() if path.startswith(SETTINGS)}
    sparse = given.get("model.normaliser", "softmax") != "softmax"
    if asked or sparse:
        settings = settings.given(read_settings(name, asked), sparse=sparse)
    if settings != position.settings:
        tree.setdefault("model", {}).setdefault("position", {})["settings"] = settings
    optimizer = given.get("train.optimizer", config.train.optimizer)
    if optimizer != config.train.optimizer and config.train.lr == own_rate(config.preset, config.train.optimizer):
        tree["train"].setdefault("lr", own_rate(config.preset, optimizer))
    made = _merged(config, tree)
    refuse_long_warmup(made.train, given.get("train.warmup"))
    return made


def refuse_long_warmup(train: TrainConfig, warmup: int | None) -> None:
    """A warm-up that was asked for ends in the run; a preset's may be longer than a run that is cut short to try it."""
    if warmup is not None and warmup > train.steps:
        said = f"the rate would rise for longer than the {counted(train.steps, 'step')} of training; give fewer"
        raise FieldError(TrainConfig, "warmup", warmup, said)


def read_settings(name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a scheme's fields, given by option (`goat-init`) or field and as text or as they are."""
    kind, read = scheme_named(name).settings, dict[str, Any]()
    for key, value in asked.items():
        field = kind.field_of(key)
        if field is None:
            raise OptionError(_idle(name, key))
        try:
            read[field] = kind.read(field, value)
        except ValueError:
            option = kind.options()[field]
            raise OptionError(f"--{option.flag} {value}: {option.form or f'{value} cannot be read'}") from None
    return read


def _idle(name: str, key: str) -> str:
    having = owners(key)
    if not having:
        return f"{key} is no setting of a position scheme; {name} has {_listed(scheme_named(name).settings)}"
    them = " or ".join(having)
    return f"{key} belongs to {them}, and {name} has none; leave it out, or take {them}"


def _listed(kind: type[Settings]) -> str:
    return ", ".join(field.replace("_", "-") for field in kind.options()) or "none"


def _merged(config: F, tree: Mapping[str, Any]) -> F:
    changes = {}
    for name, value in tree.items():
        before = getattr(config, name)
        changes[name] = _merged(before, value) if isinstance(value, dict) and isinstance(before, Frozen) else value
    return config.but(**changes)
