"""What leaves with a model: its weights, its configuration, and where it is from; no path of this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dnagoat
from dnagoat.errors import DatasetError
from dnagoat.evaluation.outputs.export.memory_cost import MemoryCost, memory_cost
from dnagoat.files import read_json, written_whole
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.checkpoint import load_model, weights_of
from dnagoat.training.kept.run import STATE, Run, Which

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import RunConfig
    from dnagoat.model.transformer import DnaLM

FORMAT: Final = 1  # of the record
KEY: Final = "dnagoat"  # of a single file's metadata: the record, as JSON


@dataclass(frozen=True)
class Leaving:
    """A checkpoint on its way out: `record` is what the other side is told of it."""

    run: Run
    which: Which
    model: DnaLM
    record: dict[str, Any]
    without_memory: MemoryCost | None = None
    left_out: bool = False  # its memory

    @property
    def note(self) -> str | None:
        """What a person should know of what does not go along; None where all does."""
        if self.left_out:
            cost = self.without_memory
            unknown = "memory is left out; what that costs is not known, since the dataset has no validation window"
            return unknown if cost is None else cost.sentence
        return tables_note(self)

    @property
    def weights(self) -> dict[str, Tensor]:
        return {name: tensor.detach().contiguous() for name, tensor in weights_of(self.model).items()}


def leaving(run: Run, which: Which) -> Leaving:
    """The whole model of a checkpoint."""
    folder = run.checkpoint(which)
    model = load_model(folder, run.config.model)
    return Leaving(run, which, model, record_of(run.config, read_json(folder / STATE)))


def record_of(config: RunConfig, state: dict[str, Any]) -> dict[str, Any]:
    """What an export says of the run: its settings, the dataset by name and hash, how far it was trained."""
    moved = config.but(origin=config.origin and config.origin.moved())
    names = {"preset", "model", "train", "dataset_hash", "memory_tables", "origin"}
    kept = moved.model_dump(mode="json", include=names)
    return {
        "format": FORMAT,
        "tool_version": dnagoat.__version__,
        **kept,
        "dataset": Path(config.dataset).name,
        **{name: state[name] for name in ("step", "bases", "val_nll")},
        "sha256": state["model_sha256"],
    }


def transformer_alone(whole: Leaving, device: str = "cpu", progress: Progress = silent) -> Leaving:
    """The same without its memory, and what that costs on validation windows of its dataset, where it has any.

    A memory that knows nothing adds the same number to the logits of all bases: leaving it out changes nothing else.
    """
    from dnagoat.model.transformer import DnaLM
    from dnagoat.training.kept.checkpoint import put_weights

    alone = DnaLM(whole.run.config.model.but(memory=()), seed=None)
    kept = {name: tensor for name, tensor in weights_of(whole.model).items() if not name.startswith("memory.")}
    put_weights(alone, kept, whole.run.path)
    alone = alone.eval()
    cost = memory_cost(whole.run, whole.which, alone, device, progress)
    record = {
        **whole.record,
        "model": alone.config.model_dump(mode="json"),
        "memory_tables": None,
        "val_nll": None if cost is None else cost.without,
    }
    return Leaving(whole.run, whole.which, alone, record, cost, left_out=True)


def tables_note(whole: Leaving) -> str | None:
    """What is said of a memory whose weights go along: its tables are made again from its dataset."""
    if not whole.model.config.memory:
        return None
    from dnagoat.counts.memory.tables import bytes_on_disk

    try:
        size = bytes_on_disk(whole.run.dataset())
    except DatasetError:
        size = None  # the dataset is not here
    told = "" if size is None else f", {size / 1e9:,.2f} GB of tables"
    return (
        f"this model looks words up in its training split{told}, which is not in the file: keep the dataset, and "
        "give it to `dnagoat import --dataset DATASET`"
    )


def write_file(leaving: Leaving, file: Path) -> None:
    """One safetensors file: weights by dnagoat's own names, memory's included, and the record in its metadata."""
    from dnagoat.training.kept.tensors import save_tensors

    with written_whole(file) as aside:
        save_tensors(leaving.weights, aside, {"format": "pt", KEY: json.dumps(leaving.record, ensure_ascii=True)})
