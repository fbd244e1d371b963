"""Weights that come back: an exported folder or file becomes a run that `generate`, `evaluate` and `score` take.

Only JSON and safetensors are read. No code of a folder is run and nothing is unpickled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from torch import Tensor

from dnagoat.config import RunConfig
from dnagoat.errors import DatasetError, OptionError, RunError
from dnagoat.evaluation.outputs.export.huggingface import DESCRIPTION, INSIDE, WEIGHTS
from dnagoat.evaluation.outputs.export.leaving import FORMAT, KEY
from dnagoat.files import read_json, write_json
from dnagoat.folders import new_folder
from dnagoat.model.transformer import DnaLM
from dnagoat.streams import follow
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, put_weights, weights_of, write
from dnagoat.training.kept.run import CONFIG, Run, open_run

INDEX = f"{WEIGHTS}.index.json"  # of weights that transformers has split into several files
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")


def import_model(path: Path, out: Path, dataset: Path | None = None) -> Run:
    """The run `out` with the weights of an exported folder or file; `dataset` is where its dataset lies here.

    A `RunError` says what is wrong with what was given, an `OptionError` that `out` is taken, a `DatasetError` that the
    dataset is another. What is kept of training is its settings: the run has no optimizer, and `train --from` goes on.
    """
    record, weights = _read(path)
    config = _configured(path, record, dataset)
    model = DnaLM(config.model, seed=None)
    put_weights(model, _own(path, model, weights), path)
    step = int(record["step"])
    state = TrainingState(
        step=step,
        bases=int(record["bases"]),
        best_step=step,
        best_val_nll=record["val_nll"],
        val_nll=record["val_nll"],
    )
    with new_folder(out, "OUT", "import", lambda: _check_place(out)) as folder:
        write_json(folder / CONFIG, config.model_dump(mode="json"))
        write(folder, Checkpoint(state, weights_of(model)))
    return open_run(out)


def _check_place(out: Path) -> None:
    there = follow(out)
    if there.exists() and (not there.is_dir() or any(there.iterdir())):
        raise OptionError(f"{out} is there already; give another OUT")


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The record and the weights by dnagoat's names, whichever form they have."""
    if not path.exists():
        raise RunError(f"{path} is not there; give a folder or a file that `dnagoat export` wrote")
    if path.is_dir():
        record = _record_in(path)
        return record, {name.removeprefix(INSIDE): tensor for name, tensor in _folder_weights(path).items()}
    if path.suffix in PICKLES:
        raise RunError(f"{path} is a pickle, which can run code as it is read; give safetensors (`dnagoat export`)")
    metadata, weights = _tensors(path)
    if KEY not in metadata:
        raise RunError(f"{path} says nothing of dnagoat in its metadata; give a file that `dnagoat export` wrote")
    try:
        return _checked(path, json.loads(metadata[KEY])), weights
    except ValueError:
        raise RunError(f"{path} has metadata that are no JSON; export it again") from None


def _record_in(folder: Path) -> dict[str, Any]:
    file = folder / DESCRIPTION
    if (folder / "checkpoints").is_dir():
        raise RunError(f"{folder} is a run already; `dnagoat export` makes of it what is imported")
    try:
        found = read_json(file)
    except FileNotFoundError:
        raise RunError(f"{folder} holds no config.json; give a folder that `dnagoat export` wrote") from None
    except ValueError:
        raise RunError(f"{file} is no JSON; export it again") from None
    if not isinstance(found, dict) or KEY not in found:
        raise RunError(f"{file} is of another model than dnagoat's; give a folder that `dnagoat export` wrote")
    return _checked(file, found[KEY])


def _checked(place: Path, record: Any) -> dict[str, Any]:
    wanted = {"format", "model", "train", "dataset", "dataset_hash", "step", "bases", "val_nll"}
    if not isinstance(record, dict) or not wanted <= record.keys():
        raise RunError(f"{place} does not say which model it holds; export it again")
    if record["format"] != FORMAT:
        raise RunError(
            f"{place} has format {record['format']} of an export, and this version reads {FORMAT}; export it again "
            "with this version"
        )
    return record


def _folder_weights(folder: Path) -> dict[str, Tensor]:
    if (folder / INDEX).exists():
        try:
            names = sorted(set(read_json(folder / INDEX)["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RunError(f"{folder / INDEX} cannot be read; export it again") from None
        files = [folder / Path(str(name)).name for name in names]  # what lies elsewhere is not the folder's
    else:
        files = [folder / WEIGHTS]
    weights: dict[str, Tensor] = {}
    for file in files:
        if not file.exists():
            pickles = [other.name for other in sorted(folder.iterdir()) if other.suffix in PICKLES]
            why = f" ({pickles[0]} is a pickle, and is not read)" if pickles else ""
            raise RunError(f"{folder} holds no {file.name}{why}; save it as safetensors")
        weights |= _tensors(file)[1]
    return weights


def _tensors(file: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    try:
        with safe_open(file, "pt") as opened:
            return dict(opened.metadata() or {}), {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as fault:
        raise RunError(f"{file} cannot be read as safetensors ({str(fault).splitlines()[0]})") from None


def _configured(path: Path, record: dict[str, Any], dataset: Path | None) -> RunConfig:
    from dnagoat.genome.dataset import content_of

    if dataset is not None and (found := content_of(dataset)) != record["dataset_hash"]:
        what = "is no dataset" if found is None else f"has content {found[:12]}"
        raise DatasetError(f"{dataset} {what}, but {path} was trained on {record['dataset_hash'][:12]}; give that one")
    names = ("preset", "model", "train", "dataset_hash", "memory_tables", "origin", "tool_version")
    kept = {name: record[name] for name in names if name in record}
    place = Path(record["dataset"]).name if dataset is None else str(dataset.resolve())
    try:
        return RunConfig.model_validate({**kept, "dataset": place})
    except (ValidationError, ValueError, OptionError) as fault:
        said = str(fault) if isinstance(fault, OptionError) else type(fault).__name__
        raise RunError(f"{path} has a configuration that this version cannot read ({said})") from None


def _own(path: Path, model: DnaLM, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """What the model has of the weights: a folder has the positions that a scheme computes beside them."""
    import torch

    computed = {name for name, _ in model.named_buffers()} - weights_of(model).keys()
    own = {name: tensor for name, tensor in weights.items() if name not in computed}
    wrong = next((name for name, tensor in own.items() if not bool(torch.isfinite(tensor).all())), None)
    if wrong is not None:
        raise RunError(f"{path}: {wrong} holds infinities or NaN; export it again")
    return own
