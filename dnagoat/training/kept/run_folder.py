"""What a run folder looks like before the first step and after the last: configuration, a clean start, a summary."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError, RunError
from dnagoat.files import write_json
from dnagoat.folders import may_fill
from dnagoat.streams import follow
from dnagoat.training.kept.lock import WORKERS, WRITER
from dnagoat.training.kept.run import CONFIG, METRICS, SUMMARY, open_run
from dnagoat.training.presets import NAME, SETTINGS
from dnagoat.wording import was_given

OURS = (CONFIG, METRICS, SUMMARY, "checkpoints", "best", "last", "evaluation", "generated", "report", "tensorboard")


def open_folder(out: Path) -> str | None:
    """Makes the folder; what to say where something that is no run is there."""
    try:
        may_fill(out, "--out")
    except OptionError as fault:
        return str(fault)
    if out.is_dir() and not (out / CONFIG).exists() and any(not _begun(entry) for entry in out.iterdir()):
        return f"{out} is a folder with other things in it; give another --out"
    follow(out).mkdir(parents=True, exist_ok=True)
    return None


def _begun(entry: Path) -> bool:
    """Whether it is what a trainer leaves that was killed before it wrote its configuration."""
    return entry.name in (WRITER, WORKERS) or (entry.name.startswith(f".{CONFIG}.") and entry.suffix == ".tmp")


def begin(out: Path, config: RunConfig, *, resume: bool, force: bool) -> str | None:
    """Writes config.json, or compares with the one that is there; what to say where the run cannot be begun."""
    if (out / CONFIG).exists() and not force:
        return (
            _resume(out, config)
            if resume
            else (
                f"{out} holds a run already; continue it with --resume, replace it with --force, or give another --out"
            )
        )
    for name in OURS if force else ():
        remove(out / name)
    _write(out, config)
    return None


def _resume(out: Path, config: RunConfig) -> str | None:
    """With `--resume`: compares config.json with what is asked for, and keeps it; what to say where they differ.

    Where the dataset has moved, it learns the new place. What is loaded is `checkpoint.to_resume_from`.
    """
    try:
        earlier = open_run(out)
    except RunError as fault:
        return str(fault)
    if different := differences(earlier.config, config):
        return f"{out} was begun with {different}; a run resumes with what it was begun with"
    if earlier.dataset_path() is None:
        _write(out, earlier.config.but(dataset=config.dataset))
    return None


def _write(out: Path, config: RunConfig) -> None:
    """The dataset's folder is kept as it was given, and so that it is found from anywhere, or moved with the run."""
    dataset, run = Path(config.dataset).resolve(), out.resolve()
    places = (os.path.relpath(dataset, run), str(dataset))
    write_json(out / CONFIG, config.but(dataset_places=places).model_dump(mode="json"))


def differences(before: RunConfig, after: RunConfig) -> str:
    """`--lr 0.001, not 0.01; ...` for every field that matters to the result; empty where there is none."""
    old, new = before.leaves(), after.leaves()
    # What it is called, where the dataset lies, and how it is computed.
    loose = {"name", "dataset", "dataset_places", "tool_version", "train.micro_batch", "train.keep", "origin.path"}
    return "; ".join(
        was_given(option_of(name, after), old.get(name), new.get(name))
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name) and name not in loose
    )


# Fields that presets alone give, and that no option sets.
PRESET_ALONE = ("width", "layers", "mlp_width", "context", "betas", "memory_lr_scale")


def option_of(path: str, config: RunConfig) -> str:
    """The option of `dnagoat train` that sets the field at `path`; the path itself where none does."""
    field = path.rpartition(".")[2]
    if path == NAME:
        return "--position"
    if path.partition(".")[0] == "origin":
        return "--from"
    if path.startswith(SETTINGS):
        declared = config.model.position.settings.options()
        return f"--{declared[field].flag}" if field in declared else path
    if path.startswith("model.position.momentum"):
        return {"ramp_steps": "--momentum-ramp", "layers": "--momentum-layers"}.get(field, "--momentum")
    settable = path.startswith(("model.", "train.")) and field not in PRESET_ALONE
    named = {"classes": "score-n", "memory": "memory-families"}.get(field, field.replace("_", "-"))
    return f"--{named}" if settable else path


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
