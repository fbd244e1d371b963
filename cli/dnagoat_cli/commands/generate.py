"""`dnagoat generate`: from a run to new DNA."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

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

WHAT = "What is continued (without any: from the start symbol)"
HOW = "How a base is drawn"
OUTPUT = "Output"
SIZE = "Memory and speed"


@app.command(help=EXAMPLES)
def generate(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    prompt: Annotated[
        list[str] | None, typer.Option(help="Bases to continue; may be repeated.", rich_help_panel=WHAT)
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="FASTA (plain, gzip) or 2bit file, - for standard input: a prompt a record.", rich_help_panel=WHAT
        ),
    ] = None,
    regions: Annotated[
        Path | None, typer.Option(help="BED file of regions of the dataset, strand in column 6.", rich_help_panel=WHAT)
    ] = None,
    from_split: Annotated[
        str | None, typer.Option(help="Random windows without N: train, val or test.", rich_help_panel=WHAT)
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Windows of --from-split.", rich_help_panel=WHAT)] = 8,
    prompt_length: Annotated[
        int, typer.Option(min=1, help="Bases read of each window of --from-split.", rich_help_panel=WHAT)
    ] = 512,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Read every prompt on the other strand.", rich_help_panel=WHAT)
    ] = False,
    dataset: Annotated[
        Path | None, typer.Option(help="The run's dataset, where it has moved.", rich_help_panel=WHAT)
    ] = None,
    length: Annotated[int, typer.Option(min=1, help="Bases to write after each prompt.")] = 512,
    samples: Annotated[int, typer.Option(min=1, help="Continuations of each prompt.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed writes the same bases.")] = 0,
    checkpoint: Annotated[str, typer.Option(help="best (on validation) or last.")] = "best",
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest base.", rich_help_panel=HOW)] = 1.0,
    top_k: Annotated[int | None, typer.Option(help="The k likeliest bases, 1 to 4.", rich_help_panel=HOW)] = None,
    top_p: Annotated[
        float | None, typer.Option(help="The likeliest bases that make up this share.", rich_help_panel=HOW)
    ] = None,
    ban_motif: Annotated[
        list[str] | None, typer.Option(help="Motif never written (IUPAC); may be repeated.", rich_help_panel=HOW)
    ] = None,
    gc_target: Annotated[
        float | None, typer.Option(help="GC share to steer to, between 0 and 1.", rich_help_panel=HOW)
    ] = None,
    memory_strength: Annotated[
        float | None,
        typer.Option(help="What memory adds, times this: 1 as trained, 0 nothing.", rich_help_panel=HOW),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="FASTA file; .gz is compressed, - is standard output.", rich_help_panel=OUTPUT)
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Table (tsv) of each base's log-probability.", rich_help_panel=OUTPUT)
    ] = None,
    table: Annotated[Path | None, typer.Option(help="Table (tsv), a line a sequence.", rich_help_panel=OUTPUT)] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that are there.", rich_help_panel=OUTPUT)
    ] = False,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Sequences at once; changes no base.", rich_help_panel=SIZE)
    ] = 64,
    max_context: Annotated[
        int | None,
        typer.Option(help="Symbols looked back on: the first and the latest; all, if not given.", rich_help_panel=SIZE),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=SIZE)] = "auto",
) -> None:
    from dnagoat.generation.sampling import SamplingOptions
    from dnagoat.training.kept.run import open_run
    from dnagoat_cli.terminal import generation as view

    out = out or Path("-")
    view.check_places(
        {"--prompts": prompts, "--regions": regions}, {"--out": out, "--scores": scores, "--table": table}, force
    )
    options = SamplingOptions(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        ban_motifs=tuple(ban_motif or ()),
        gc_target=gc_target,
        memory_strength=memory_strength,
        seed=seed,
    )
    opened = open_run(run)
    given = view.gathered(
        opened, prompt, prompts, regions, from_split, dataset, count=count, length=prompt_length, seed=seed
    )
    given = [one.turned() for one in given] if reverse else given
    finished = view.written(
        view.loaded(opened, checkpoint, device),
        given,
        options,
        length=length,
        samples=samples,
        batch_size=batch_size,
        max_context=max_context,
    )
    view.save(finished, given, options, out=out, scores=scores, table=table)
    view.end(finished, len(given) * samples)
