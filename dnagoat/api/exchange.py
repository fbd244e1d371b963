"""Runs for other machines and back: export, import_model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dnagoat.api.keywords import Place, hear_nothing
from dnagoat.api.making import open_run
from dnagoat.progress import Progress, silent

if TYPE_CHECKING:
    from dnagoat.training.kept.run import Run, Which


def export(
    run: Run | Place,
    out: Place,
    to: Literal["hf", "safetensors"] = "hf",
    *,
    checkpoint: Which = "best",
    without_memory: bool = False,
    device: str = "cpu",
    force: bool = False,
    say: Callable[[str], None] = hear_nothing,
    progress: Progress = silent,
) -> Path:
    """Writes a run as a folder that transformers loads without dnagoat (`hf`), or as one .safetensors file.

    The folder has code, weights in float32, tokenizer, licence and a model card; logits there are those here. A model
    with memory becomes a folder only `without_memory`, and `say` hears what that costs in nats on validation windows,
    which is measured once and kept in the run.
    `force` replaces an earlier export. `OptionError` where something else is there, `RunError` without a checkpoint.
    """
    from dnagoat.evaluation.outputs.export import send

    opened = open_run(run) if isinstance(run, Path | str) else run
    form = send.form_of(to)
    send.export(
        opened,
        Path(out),
        form,
        which=checkpoint,
        without_memory=without_memory,
        device=device,
        force=force,
        say=say,
        progress=progress,
    )
    return Path(out)


def import_model(path: Place, out: Place, *, dataset: Place | None = None) -> Run:
    """Makes the run folder `out` of an exported folder or file and opens it; `dataset` is where its dataset lies here.

    Only JSON and safetensors are read, nothing is run or unpickled. The run can be asked and started from
    (`train(start=...)`), not resumed: it has no optimizer. `RunError` where the weights are damaged or another model's.
    """
    from dnagoat.evaluation.outputs.export.arrive import import_model as take_in

    return take_in(Path(path), Path(out), None if dataset is None else Path(dataset))
