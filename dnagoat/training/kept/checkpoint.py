"""What a checkpoint is: a folder written aside, hashed, renamed; nothing in it needs unpickling.

    checkpoints/step-NNNNNN/  weights.safetensors  optimizer.safetensors  random.safetensors  state.json

`state.json` holds the step, the best validation so far, the content hash of the weights (which results cite), the
sha256 of every other file, and one of itself: a damaged checkpoint is recognised and the one before it taken.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any, Self

import torch
from safetensors.torch import load_file
from torch import Tensor

import dnagoat
from dnagoat.config import ModelConfig
from dnagoat.errors import RunError, TrainingError
from dnagoat.files import hash_file, plain_name, read_json, write_json, write_text
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.run import STATE
from dnagoat.training.kept.tensors import save_tensors

WEIGHTS, OPTIMIZER, RANDOM = "weights.safetensors", "optimizer.safetensors", "random.safetensors"
Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class TrainingState:
    """How far a run is: what `state.json` says besides the hashes."""

    step: int = 0
    bases: int = 0  # read so far, scored or not
    seconds: float = 0.0  # of training, over all sittings
    best_step: int | None = None
    best_val_nll: float | None = None
    val_nll: float | None = None  # of this very step, where it was measured
    loss_scale: float | None = None  # fp16 only
    loss_scale_age: int | None = None

    def better(self, val_nll: float) -> bool:
        return self.best_val_nll is None or val_nll < self.best_val_nll


@dataclass(frozen=True)
class Checkpoint:
    """A whole training state; tensors on the CPU, whole whatever the number of processes."""

    progress: TrainingState
    weights: Tensors
    optimizer: Tensors = field(default_factory=dict)
    random: Tensors = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """A checked checkpoint; a `RunError` where `fault(folder)` finds one."""
        if (wrong := fault(folder)) is not None:
            raise RunError(f"{folder} {wrong}; take another checkpoint of this run")
        stored = read_json(folder / STATE)
        progress = TrainingState(**{name: stored[name] for name in TrainingState.__dataclass_fields__})
        return cls(progress, *(_tensors(folder / name) for name in (WEIGHTS, OPTIMIZER, RANDOM)))


def content_hash(tensors: Mapping[str, Tensor]) -> str:
    """sha256 over names, types, shapes and bytes in the order of the names: the same weights, the same hash."""
    digest = sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def folder_of(run: Path, step: int) -> Path:
    return run / "checkpoints" / f"step-{step:06d}"


def step_of(folder: Path) -> int:
    return int(folder.name.removeprefix("step-"))


def present(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first, whole or not."""
    return sorted((run / "checkpoints").glob("step-*"), key=step_of)


def save(run: Path, checkpoint: Checkpoint, *, keep: int) -> Path:
    """Writes a checkpoint aside, renames it, points `last` (and `best`) at it and lets the oldest go.

    The `keep` newest stay, and the best one. Raises a `TrainingError` where the disk refuses; what was there before
    stays whole.
    """
    step = checkpoint.progress.step
    try:
        folder = write(run, checkpoint)
        _let_go(run, keep, checkpoint.progress.best_step)
    except OSError as why:
        before = [step_of(folder) for folder in present(run) if step_of(folder) < step]
        intact = f"the checkpoint of step {before[-1]:,} is intact" if before else "there is no earlier checkpoint"
        raise TrainingError(
            f"the checkpoint of step {step:,} could not be written to {run} ({why.strerror or why}); {intact}: "
            "make room, then continue (`dnagoat train --resume`)"
        ) from why
    return folder


def write(run: Path, checkpoint: Checkpoint) -> Path:
    """Writes a checkpoint aside, renames it, points `last` (and `best`) at it; an `OSError` where the disk refuses."""
    folder = _written(run, checkpoint)
    point(run, checkpoint.progress)
    return folder


def _written(run: Path, checkpoint: Checkpoint) -> Path:
    folder = folder_of(run, checkpoint.progress.step)
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        for name, tensors in (
            (WEIGHTS, checkpoint.weights),
            (OPTIMIZER, checkpoint.optimizer),
            (RANDOM, checkpoint.random),
        ):
            save_tensors(tensors, aside / name)
            _sync(aside / name)
        write_json(aside / STATE, _sealed(checkpoint, aside))
        _sync(aside)
        if folder.exists():  # the same step, from a sitting that got no further
            _remove(folder)
        aside.rename(folder)
        _sync(folder.parent)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return folder


def _sealed(checkpoint: Checkpoint, folder: Path) -> dict[str, Any]:
    state = {
        "format": 1,
        "tool_version": dnagoat.__version__,
        "model_sha256": content_hash(checkpoint.weights),
        **asdict(checkpoint.progress),
        "files": {name: hash_file(folder / name) for name in (WEIGHTS, OPTIMIZER, RANDOM)},
    }
    return {**state, "sha256": _seal(state)}


def _seal(state: Mapping[str, Any]) -> str:
    return sha256(dumps({k: v for k, v in state.items() if k != "sha256"}, sort_keys=True).encode()).hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fault(folder: Path) -> str | None:
    """What is wrong with a checkpoint's files ("is half-written: …"), or None."""
    try:
        state = read_json(folder / STATE)
        if state["sha256"] != _seal(state):
            return f"is damaged: {STATE} does not match its own hash"
        for name, expected in state["files"].items():
            if hash_file(folder / name) != expected:
                return f"is damaged: {name} does not match its hash"
    except FileNotFoundError as missing:
        return f"is half-written: {Path(missing.filename).name} is missing"
    except (OSError, ValueError, KeyError, TypeError):
        return f"is damaged: {STATE} cannot be read"
    return None


def to_resume_from(run: Path, say: Callable[[str], None]) -> Checkpoint | None:
    """What `--resume` loads: the newest whole checkpoint of a run, None where there is none.

    Says which damaged ones were passed over.
    """
    for folder in reversed(present(run)):
        wrong = fault(folder)
        if wrong is None:
            return Checkpoint.read(folder)
        say(f"{folder} {wrong}; taking the one before it")
    return None


def point(run: Path, progress: TrainingState) -> None:
    """Writes the small files `last` and `best`, which name a checkpoint's folder."""
    write_text(run / "last", folder_of(run, progress.step).name + "\n")
    if progress.best_step is not None:
        write_text(run / "best", folder_of(run, progress.best_step).name + "\n")


def with_best(run: Path, progress: TrainingState) -> TrainingState:
    """The progress with a best checkpoint that is still there and whole: its own step's, where the old one has gone."""
    if progress.best_step is None or fault(folder_of(run, progress.best_step)) is None:
        return progress
    here = None if progress.val_nll is None else progress.step
    return replace(progress, best_step=here, best_val_nll=progress.val_nll)


def settle(run: Path, progress: TrainingState) -> None:
    """Removes what a killed sitting left (unfinished folders, checkpoints beyond the one resumed from); points anew."""
    for left in run.glob(".*.tmp"):
        left.unlink()
    for left in (run / "checkpoints").glob(".*"):
        shutil.rmtree(left, ignore_errors=True)
    for folder in present(run):
        if step_of(folder) > progress.step:
            _remove(folder)
    if progress.step:
        point(run, progress)


def _let_go(run: Path, keep: int, best_step: int | None) -> None:
    for folder in present(run)[:-keep]:
        if step_of(folder) != best_step:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Renamed first, so that a half-removed checkpoint never looks like one."""
    gone = folder.with_name(f".{folder.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def model_sha256(folder: Path) -> str:
    """The content hash of a checkpoint's weights, as its `state.json` records it."""
    return str(read_json(folder / STATE)["model_sha256"])


def load_model(folder: Path, config: ModelConfig, device: torch.device | str = "cpu") -> DnaLM:
    """The model with a checkpoint's weights, in evaluation mode; a `RunError` where they are damaged or do not fit."""
    if (wrong := fault(folder)) is not None:
        raise RunError(f"{folder} {wrong}; take another checkpoint of this run or train it again")
    model = DnaLM(config)
    put_weights(model, _tensors(folder / WEIGHTS), folder)
    return model.to(device).eval()


def _tensors(file: Path) -> Tensors:
    with plain_name(file) as name:  # safetensors reads from paths in UTF-8 alone
        return load_file(name)


def weights_of(model: torch.nn.Module) -> Tensors:
    """Parameters and persistent buffers by name; a tied one once, under its first name."""
    persistent = model.state_dict(keep_vars=True)
    seen: set[int] = set()
    chosen: Tensors = {}
    for name, tensor in persistent.items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            chosen[name] = tensor
    return chosen


def put_weights(model: torch.nn.Module, weights: Mapping[str, Tensor], origin: Path | str) -> None:
    """Copies weights in by name; a `RunError` where they are another model's."""
    mine = weights_of(model)
    if strange := sorted(mine.keys() ^ weights.keys()):
        raise RunError(
            f"{origin} holds the weights of another model ({strange[0]} does not fit); is config.json its own?"
        )
    with torch.no_grad():
        for name, tensor in mine.items():
            if tensor.shape != weights[name].shape:
                raise RunError(
                    f"{origin}: {name} has shape {tuple(weights[name].shape)}, the model wants {tuple(tensor.shape)}; "
                    f"is config.json its own?"
                )
            tensor.copy_(weights[name])
