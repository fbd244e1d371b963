"""Which ready-made sizes there are, and how options given by hand change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from dnagoat import __version__
from dnagoat.config import (
    AUTHORS,
    DISTANCE_PERIODS,
    DNA_PERIODS,
    SINK_WIDTH,
    Frozen,
    GoatConfig,
    ModelConfig,
    PositionConfig,
    RunConfig,
    TrainConfig,
)
from dnagoat.errors import OptionError

F = TypeVar("F", bound=Frozen)

PRIOR_LR_SCALE = 5.0  # the rate at which the comparisons of experiments/five-arms.md were trained

PRESETS: dict[str, tuple[ModelConfig, TrainConfig]] = {
    "tiny": (
        ModelConfig(width=128, heads=2, layers=4, mlp_width=512),
        TrainConfig(
            steps=1000, batch_size=8, lr=1e-3, warmup=50, eval_every=100, eval_windows=64, prior_lr_scale=PRIOR_LR_SCALE
        ),
    ),
    "small": (
        ModelConfig(width=256, heads=4, layers=6, mlp_width=1024),
        TrainConfig(steps=5000, batch_size=16, lr=6e-4, warmup=200, eval_every=250, prior_lr_scale=PRIOR_LR_SCALE),
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
                goat=GoatConfig(form="authors", init="seeded", rank=2, periods=None, ladder_base=10_000.0)
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


GOAT = "model.position.goat."
# What a RoPE whose biases start as peaks takes of a prior's settings: where they are, and of which periods.
PEAKS = {GOAT + field for field in ("init", "distances", "amplitude", "periods", "rank")}
LADDER = object()  # as a value of an option: the geometric ladder instead of a list of periods


def distances_named(text: str) -> dict[str, Any]:
    """`1/2,1/-` -> distances (1, 2) for the heads of the first layer, (1, none) for those of the second."""
    layers = [layer.split("/") for layer in text.split(",")]
    return {GOAT + "distances": tuple(tuple(None if head == "-" else int(head) for head in layer) for layer in layers)}


def distances_text(distances: Sequence[Sequence[int | None]]) -> str:
    """The opposite of `distances_named`."""
    return ",".join("/".join("-" if head is None else str(head) for head in layer) for layer in distances)


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
    """The configuration with each option that is not None put at its path."""
    tree: dict[str, Any] = {}
    for path, value in with_start(config, with_form(config, options)).items():
        if value is None:
            continue
        *parents, leaf = path.split(".")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[leaf] = None if value is LADDER else value
    return _merged(config, tree)


def with_form(config: RunConfig, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, with what goes with another form of GOAT: its start, waves and sink's network."""
    given = {path: value for path, value in options.items() if value is not None}
    before = config.model.position.goat.form
    if (form := given.get(GOAT + "form", before)) == before:
        return given
    goes: dict[str, Any] = {**AUTHORS, "periods": LADDER} if form == "authors" else {"sink_width": SINK_WIDTH}
    if given.get(GOAT + "init") == "distances" or {GOAT + "periods", GOAT + "rank"} & given.keys():
        goes = {name: value for name, value in goes.items() if name not in ("rank", "periods")}
    return {**{GOAT + name: value for name, value in goes.items()}, **given}


def with_start(config: RunConfig, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with what goes with them: the periods of another start, and the start of a prior on other waves.

    A start at distances has periods that peaks are made of, the others those of DNA. On waves that were chosen by
    hand, or on the ladder, a peak would be a comb, and to a sparse normaliser it is the only key there is, so that the
    head could not learn: there GOAT starts as its authors do, unless something else is asked for.
    """
    asked = {path.removeprefix(GOAT): value for path, value in options.items() if value is not None}
    waves = {"periods", "rank"} & asked.keys()
    before, name = config.model.position.goat.init, asked.get("model.position.name", config.model.position.name)
    init = asked.get("init", before)
    sparse = asked.get("model.normaliser", "softmax") != "softmax"
    if (waves or sparse) and name.startswith("goat") and not {"init", "distances"} & asked.keys():
        init = "seeded" if before == "distances" else before
        options = {**options, GOAT + "init": init}
    if waves or (init == "distances") == (before == "distances"):
        return dict(options)
    periods = DISTANCE_PERIODS if init == "distances" else DNA_PERIODS
    return {**options, GOAT + "periods": periods, GOAT + "rank": len(periods)}


def refuse_idle(position: str, options: Mapping[str, Any]) -> None:
    """An `OptionError` where an option sets what this position scheme does not have: it would change nothing."""
    owners = {GOAT: "goat", "model.position.rope_base": "rope"}
    peaks = PEAKS if position == "rope+bias" else ()
    for path in (path for path, value in options.items() if value is not None and path not in peaks):
        for start, owner in owners.items():
            if path.startswith(start) and owner not in position:
                name = path.rpartition(".")[2].replace("_", "-")
                raise OptionError(f"{name} belongs to {owner}, and {position} has none; leave it out, or take {owner}")


def _merged(config: F, tree: Mapping[str, Any]) -> F:
    changes = {}
    for name, value in tree.items():
        before = getattr(config, name)
        changes[name] = _merged(before, value) if isinstance(value, dict) and isinstance(before, Frozen) else value
    return config.but(**changes)
