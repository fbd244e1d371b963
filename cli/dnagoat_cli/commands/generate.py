"""`dnagoat generate`: from a run to new DNA."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options import prompting as o
from dnagoat_cli.options.unfold import unfold
from dnagoat_cli.options.weights import Checkpoint

EXAMPLES = """
Write DNA with a trained model: continue prompts, or begin from nothing.

[bold]Examples[/bold]

  dnagoat generate runs/goat --prompt ACGTACGGT --length 200

  dnagoat generate runs/goat --from-split test --count 10 --samples 4 --out new.fa.gz

  dnagoat generate runs/goat --regions promoters.bed --temperature 0.9 --scores scores.tsv --out new.fa

  dnagoat generate runs/goat --prompts seeds.fa --ban-motif GAATTC --gc-target 0.5

  zcat seeds.fa.gz | dnagoat generate runs/goat --prompts - | gzip > new.fa.gz

Without [bold]--out[/bold] the FASTA goes to standard output. Ctrl-C keeps the sequences that are finished.
"""


@app.command(help=EXAMPLES)
@unfold
def generate(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    source: o.Source,
    drawing: o.Drawing,
    files: o.Files,
    length: Annotated[int, typer.Option(min=1, help="Bases to write after each prompt.")] = 512,
    samples: Annotated[int, typer.Option(min=1, help="Continuations of each prompt.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bases.")] = 0,
    checkpoint: Checkpoint = "best",
    batch_size: Annotated[
        int, typer.Option(min=1, help="Sequences at once; changes no base.", rich_help_panel=o.SIZE)
    ] = 64,
    max_context: Annotated[
        int | None,
        typer.Option(
            help="Symbols looked back on: the first and the latest; all, if not given.", rich_help_panel=o.SIZE
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=o.SIZE)] = "auto",
) -> None:
    from dnagoat.training.kept.run import open_run
    from dnagoat_cli.options.weights import load_model
    from dnagoat_cli.terminal.continuations import continue_prompts

    files.check(source)
    options = drawing.options(seed)
    opened = open_run(run)
    prompts = source.read(opened, seed)
    model = load_model(opened, checkpoint, device)
    finished = continue_prompts(
        model, prompts, options, length, samples=samples, batch_size=batch_size, max_context=max_context
    )
    files.write(prompts, finished.sequences, options)
    finished.conclude(len(prompts) * samples)
