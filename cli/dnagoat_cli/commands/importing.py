"""`dnagoat import`: from an export to a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Make a run of exported weights, which `generate`, `evaluate`, `score` and `dnagoat train --from` take.

Only JSON and safetensors are read: no code of the folder is run, nothing is unpickled. A model with memory looks words
up in the dataset that it was trained on: give --dataset, here or to every command that asks the run.

[bold]Examples[/bold]

  dnagoat import exported/goat runs/back

  dnagoat import goat.safetensors runs/back --dataset data/demo
"""


@app.command("import", help=EXAMPLES)
def import_run(
    path: Annotated[Path, typer.Argument(help="Folder or .safetensors file that `export` wrote.")],
    out: Annotated[Path, typer.Argument(help="Run folder to write.")],
    dataset: Annotated[
        Path | None,
        typer.Option(help="Where the dataset that it was trained on lies here; a model with memory needs it."),
    ] = None,
) -> None:
    from dnagoat.evaluation.outputs.export.arrive import import_model
    from dnagoat_cli.terminal.exports import show_import

    show_import(import_model(path, out, dataset))
