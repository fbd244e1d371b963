"""`dnagoat export`: from a run to other machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options.weights import Checkpoint, open_where, which_of

EXAMPLES = """
Export a run: a folder that Hugging Face's transformers loads without dnagoat, or a single safetensors file.

The folder has the model's code, tokenizer, weights, licence and a model card; the file has dnagoat's own names and
the configuration in its metadata. `dnagoat import` makes a run of either again. What leaving out memory costs is
measured once and kept in the run.

[bold]Examples[/bold]

  dnagoat export runs/goat exported/goat

  dnagoat export runs/goat goat.safetensors --to safetensors

  dnagoat export runs/memory exported/alone --without-memory     [dim]transformers cannot look words up[/dim]
"""


@app.command(help=EXAMPLES)
def export(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    out: Annotated[Path, typer.Argument(help="Folder to write, or the .safetensors file.")],
    to: Annotated[str, typer.Option(help="hf (a folder for transformers) or safetensors (one file).")] = "hf",
    checkpoint: Checkpoint = "best",
    without_memory: Annotated[
        bool,
        typer.Option(
            "--without-memory",
            help="Of a run with memory: its transformer alone; says what that costs on validation windows.",
        ),
    ] = False,
    dataset: Annotated[
        Path | None, typer.Option(help="The run's dataset, where it has moved; for the card and --without-memory.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where --without-memory is measured: auto, cpu, cuda, cuda:N.")] = "cpu",
    force: Annotated[bool, typer.Option("--force", help="Replace an export that is there.")] = False,
) -> None:
    from dnagoat.evaluation.outputs.export import send
    from dnagoat_cli.terminal.bar import say, show_progress
    from dnagoat_cli.terminal.exports import show_export

    opened, which = open_where(run, dataset), which_of(checkpoint)
    notes: list[str] = []
    with show_progress("exporting") as progress:
        left = send.export(
            opened,
            out,
            send.form_of(to),
            which=which,
            without_memory=without_memory,
            device=device,
            force=force,
            say=notes.append,
            progress=progress,
        )
    for note in notes:
        say(note)
    show_export(left, out)
