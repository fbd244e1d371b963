"""Which weights of a run read, where, and how much at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dnagoat.model.transformer import DnaLM
    from dnagoat.training.kept.run import Run, Which

Checkpoint = Annotated[str, typer.Option(help="best (on validation) or last.")]


@dataclass(frozen=True)
class Weights:
    """What every command that scores sequences takes."""

    checkpoint: Checkpoint = "best"
    dataset: Annotated[
        Path | None, typer.Option(help="The run's dataset, where it has moved; only a run with memory asks.")
    ] = None
    batch_size: Annotated[
        int, typer.Option(min=1, help="Training windows' worth of bases at once; changes no result.")
    ] = 64
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto"

    def load(self, path: Path) -> tuple[Run, DnaLM]:
        """The run in a folder and its weights."""
        run = open_where(path, self.dataset)
        return run, load_model(run, self.checkpoint, self.device)


def open_where(path: Path, dataset: Path | None) -> Run:
    """The run in a folder, whose dataset lies where it was, or at `dataset`."""
    from dnagoat.training.kept.run import open_run

    run = open_run(path)
    if dataset is not None:
        run.dataset(dataset)
    return run


def which_of(checkpoint: str) -> Which:
    """The checkpoint of that name; an `OptionError` where there is none."""
    from dnagoat.errors import OptionError

    if checkpoint == "best":
        return "best"
    if checkpoint == "last":
        return "last"
    raise OptionError(f"--checkpoint {checkpoint}: give best or last")


def load_model(run: Run, checkpoint: str, device: str) -> DnaLM:
    """The model of the best or the last checkpoint on a device."""
    from dnagoat.training.launch.processes import pick_device

    return run.model(which_of(checkpoint), pick_device(device))
