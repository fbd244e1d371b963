"""`dnagoat evaluate`: one measure of a run, computed once and kept in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Measure a trained model; the result is kept in RUN/evaluation and read from there the next time.

[bold]Examples[/bold]

  dnagoat evaluate runs/goat --what generation             [dim]GC% trajectory against three nulls, k-mers[/dim]

  dnagoat evaluate runs/goat --what generation --prompts 32 --samples 4
"""

GENERATION = "--what generation"


@app.command(help=EXAMPLES)
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    what: Annotated[str, typer.Option(help="Which measure; a wrong name lists them.")],
    split: Annotated[str, typer.Option(help="train, val or test.")] = "test",
    checkpoint: Annotated[str, typer.Option(help="best (on validation) or last.")] = "best",
    seed: Annotated[int, typer.Option(help="Of random loci, draws and resamples.")] = 0,
    dataset: Annotated[Path | None, typer.Option(help="The run's dataset, where it has moved.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    batch_size: Annotated[int, typer.Option(min=1, help="Windows or sequences at once; changes no result.")] = 64,
    prompts: Annotated[int | None, typer.Option(help="Loci that are continued.", rich_help_panel=GENERATION)] = None,
    prompt_length: Annotated[int | None, typer.Option(help="Bases of each.", rich_help_panel=GENERATION)] = None,
    length: Annotated[int | None, typer.Option(help="Bases written after it.", rich_help_panel=GENERATION)] = None,
    samples: Annotated[
        int | None, typer.Option(help="Continuations of each prompt.", rich_help_panel=GENERATION)
    ] = None,
    gc_window: Annotated[int | None, typer.Option(help="Bases of a GC window.", rich_help_panel=GENERATION)] = None,
    gc_stride: Annotated[int | None, typer.Option(help="Bases between them.", rich_help_panel=GENERATION)] = None,
    temperature: Annotated[float | None, typer.Option(help="Of sampling.", rich_help_panel=GENERATION)] = None,
    force: Annotated[bool, typer.Option("--force", help="Compute again and replace what is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole result.")] = False,
) -> None:
    from dnagoat_cli.evaluate_view import measured, options_from, show

    options = options_from(
        split=split,
        which=checkpoint,
        seed=seed,
        dataset=dataset,
        device=device,
        batch_size=batch_size,
        trajectory={
            "prompts": prompts,
            "prompt_length": prompt_length,
            "length": length,
            "samples": samples,
            "gc_window": gc_window,
            "gc_stride": gc_stride,
            "temperature": temperature,
        },
    )
    result, path = measured(run, what, options, force)
    show(result, path, as_json)
