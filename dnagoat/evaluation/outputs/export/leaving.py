"""What leaves with a model: its weights, its configuration, and where it is from; no path of this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dnagoat
from dnagoat.errors import DatasetError, OptionError
from dnagoat.files import read_json
from dnagoat.training.kept.checkpoint import STATE, load_model, weights_of
from dnagoat.training.kept.run import Run, Which

if TYPE_CHECKING:
    from torch import Tensor

    from dnagoat.config import RunConfig
    from dnagoat.genome.dataset import Dataset
    from dnagoat.model.transformer import DnaLM

FORMAT: Final = 1  # of the record
HELD_OUT: Final = 256  # validation windows that say what leaving out memory costs


@dataclass(frozen=True)
class WithoutMemory:
    """What the transformer alone costs: nats a base of as many validation windows, with memory and without."""

    with_memory: float
    without: float
    windows: int

    @property
    def sentence(self) -> str:
        return (
            f"memory is left out: {self.without:.4f} nats a base of {self.windows:,} validation windows instead of "
            f"{self.with_memory:.4f}, {self.without - self.with_memory:+.4f}"
        )


@dataclass(frozen=True)
class Leaving:
    """A checkpoint on its way out: `record` is what the other side is told of it."""

    run: Run
    which: Which
    model: DnaLM
    record: dict[str, Any]
    without_memory: WithoutMemory | None = None

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


def transformer_alone(whole: Leaving, device: str = "cpu", say: Callable[[str], None] = lambda _: None) -> Leaving:
    """The same without its memory, and what that costs, measured on validation windows of its dataset.

    A memory that knows nothing adds the same number to the logits of all bases: leaving it out changes nothing else.
    """
    from dnagoat.model.transformer import DnaLM
    from dnagoat.training.kept.checkpoint import put_weights

    alone = DnaLM(whole.run.config.model.but(memory=()), seed=None)
    kept = {name: tensor for name, tensor in weights_of(whole.model).items() if not name.startswith("memory.")}
    put_weights(alone, kept, whole.run.path)
    try:
        data = whole.run.dataset()
    except DatasetError as fault:
        raise DatasetError(f"what leaving out memory costs is measured on validation windows: {fault}") from None
    cost = _cost(whole, alone.eval(), data, device, say)
    model = alone.config.model_dump(mode="json")
    record = {**whole.record, "model": model, "memory_tables": None, "val_nll": cost.without}
    return Leaving(whole.run, whole.which, alone, record, cost)


def _cost(whole: Leaving, alone: DnaLM, data: Dataset, device: str, say: Callable[[str], None]) -> WithoutMemory:
    from dnagoat.attention.fast.subnormals import flush_subnormals
    from dnagoat.training.launch.processes import processes
    from dnagoat.training.validation import Validation

    config = whole.run.config
    config = config.but(train=config.train.but(eval_windows=HELD_OUT, precision="fp32"))
    with flush_subnormals(), processes(device) as group:
        validation = Validation(data, config, group)
        say(f"scoring {validation.windows:,} validation windows with memory and without")
        reading = whole.run.model(whole.which, group.device)
        found = [validation.nll(model.to(group.device)) for model in (reading, alone)]
        alone.to("cpu")
    if found[0] is None or found[1] is None:
        raise OptionError(f"{data.path} has no validation window, so that nobody can say what leaving out memory costs")
    return WithoutMemory(found[0], found[1], validation.windows)


def tables_note(whole: Leaving) -> str | None:
    """What is said of a memory whose weights go along: its tables are made again from its dataset."""
    if not whole.model.config.memory:
        return None
    from dnagoat.counts.memory.tables import bytes_on_disk

    try:
        size = bytes_on_disk(whole.run.dataset())
    except DatasetError:
        size = None  # the dataset is not here
    told = "" if size is None else f" ({size / 1e9:,.2f} GB)"
    return (
        f"the tables of memory{told} do not go along: they are counted again from the dataset "
        "(`dnagoat import --dataset`)"
    )
