"""A run that starts from trained weights: which configuration that means, and how the weights are found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_file

import dnagoat
from dnagoat.config import ModelConfig, Origin, RunConfig
from dnagoat.errors import OptionError, RunError
from dnagoat.training.kept.checkpoint import WEIGHTS, Tensors, fault, folder_of, model_sha256, step_of
from dnagoat.training.kept.run import Run
from dnagoat.training.kept.run_folder import option_of
from dnagoat.training.presets import SETTINGS, changed

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset


def origin_of(run: Run) -> Origin:
    """What a run that starts from this one remembers of it, and of its best checkpoint; of the last one where it was
    never validated."""
    folder = run.checkpoint("best" if (run.path / "best").exists() else "last")
    return Origin(
        path=str(run.path),
        step=step_of(folder),
        sha256=model_sha256(folder),
        dataset=run.config.dataset,
        dataset_hash=run.config.dataset_hash,
        origin=run.config.origin,
    )


def started(run: Run, dataset: Dataset, options: Mapping[str, Any], *, preset: str | None = None) -> RunConfig:
    """The configuration of a run on `dataset` that starts from the weights of `run`: its model, and its way of training
    from the first step on, changed by options.

    An `OptionError` names the option that asks for another model: weights fit no other. Momentum is at its strength
    already, and does not rise again.
    """
    if preset is not None and preset != run.config.preset:
        raise OptionError(f"--preset {preset}: {run.path} has {run.config.preset}, and --from keeps its size; drop it")
    if dataset.window != run.config.model.context:
        raise OptionError(
            f"{dataset.path} has windows of {dataset.window:,} bases, but {run.path} was trained on "
            f"{run.config.model.context:,}; prepare it with `dnagoat prepare --window {run.config.model.context}`"
        )
    base = run.config.but(
        name=None,
        model=_risen(run.config.model),
        dataset=str(dataset.path),
        dataset_places=(),
        dataset_hash=dataset.content_hash,
        memory_tables=None,
        origin=origin_of(run),
        tool_version=dnagoat.__version__,
    )
    config = changed(base, options)
    refuse_other_model(base, config, run.path, _leaves(config, options))
    return config


def _leaves(config: RunConfig, options: Mapping[str, Any]) -> list[str]:
    """The fields that options set, by their paths: a scheme's go by the name of their option too."""
    kind = config.model.position.settings
    paths = []
    for path in (path for path, value in options.items() if value is not None):
        field = kind.field_of(path.removeprefix(SETTINGS)) if path.startswith(SETTINGS) else None
        paths.append(path if field is None else SETTINGS + field)
    return paths


def refuse_other_model(base: RunConfig, config: RunConfig, path: Path | str, given: Sequence[str] = ()) -> None:
    """An `OptionError` where the models differ in more than the kernel that computes them; it names the first of those
    fields that were `given`, and else of all."""
    kernel = base.model.kernel
    before, after = base.but(train=config.train), config.but(model=config.model.but(kernel=kernel))
    old, new = before.leaves(), after.leaves()
    for name in dict.fromkeys([*given, *new, *old]):
        if name.startswith("model.") and old.get(name) != new.get(name):
            raise OptionError(
                f"{option_of(name, after)} {new.get(name)}: {path} has {old.get(name)}, and its weights fit no other "
                "model; leave the option out"
            )


def _risen(model: ModelConfig) -> ModelConfig:
    momentum = model.position.momentum
    if momentum is None or not momentum.ramp_steps:
        return model
    return model.but(position=model.position.but(momentum=momentum.but(ramp_steps=0)))


def weights_at(origin: Origin) -> Tensors:
    """The weights that a run starts from; a `RunError` where they are gone, damaged, or others by now."""
    folder = folder_of(Path(origin.path), origin.step)
    if (wrong := fault(folder)) is not None:
        raise RunError(f"{folder}, from which this run starts, {wrong}; bring it back, or start from another --from")
    if model_sha256(folder) != origin.sha256:
        raise RunError(f"{folder} holds other weights than those from which this run starts; give --from again")
    return load_file(folder / WEIGHTS)
