"""`dnagoat evaluate`: how good a run is, each measure computed once and kept in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Measure a trained model; each result is kept in RUN/evaluation and read from there the next time.

Without further options: NLL of the validation and the test split, with intervals, beside tables of counts (Markov
chains and better) on the same bases.

[bold]Examples[/bold]

  dnagoat evaluate runs/goat

  dnagoat evaluate runs/goat --context 2048 --stride 512     [dim]1,536 bases before each, where there are[/dim]

  dnagoat evaluate runs/goat --what strata --strata exons.bed

  dnagoat evaluate runs/goat --lengths 1x,4x,16x             [dim]does context past training help?[/dim]

  dnagoat evaluate runs/goat --what copying                  [dim]does it look earlier occurrences up?[/dim]

  dnagoat evaluate runs/goat --fasta mine.fa --out scores.tsv

  zcat mine.fa.gz | dnagoat evaluate runs/goat --fasta - | sort -k 2n

  dnagoat evaluate runs/goat --tracks tracks/                [dim]for IGV and the UCSC browser[/dim]

  dnagoat evaluate runs/goat --what generation --prompts 32 --samples 4
"""

SCORING = "What is scored, and its intervals"
MORE = "More measures"
OUTPUTS = "Other sequences, other outputs"
GENERATION = "--what generation"


@app.command(help=EXAMPLES)
def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    what: Annotated[
        list[str] | None,
        typer.Option(
            help="nll, strata, lengths, rc, copying, generation, prior, inspect or protocol-paper; repeatable."
        ),
    ] = None,
    split: Annotated[list[str] | None, typer.Option(help="train, val or test; repeatable.")] = None,
    checkpoint: Annotated[str, typer.Option(help="best (on validation) or last.")] = "best",
    seed: Annotated[int, typer.Option(help="Of random loci, draws and resamples.")] = 0,
    dataset: Annotated[Path | None, typer.Option(help="The run's dataset, where it has moved.")] = None,
    other_dataset: Annotated[
        Path | None, typer.Option(help="Another dataset than it was trained on; results lie apart.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    batch_size: Annotated[int, typer.Option(min=1, help="Windows or sequences at once; changes no result.")] = 64,
    windows: Annotated[
        int | None, typer.Option(help="Windows, spread over the split; default all.", rich_help_panel=SCORING)
    ] = None,
    context: Annotated[
        int | None, typer.Option(help="Bases read at once; default the dataset's window.", rich_help_panel=SCORING)
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(
            help="Bases scored of each: context - stride or more come before, fewer at the start of a contig or split.",
            rich_help_panel=SCORING,
        ),
    ] = None,
    block: Annotated[
        int | None, typer.Option(help="Bases of a bootstrap block; default 20,000.", rich_help_panel=SCORING)
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(help="Of the bootstrap; default 2,000.", rich_help_panel=SCORING)
    ] = None,
    strata: Annotated[
        list[Path] | None, typer.Option(help="BED file: NLL in and outside it; repeatable.", rich_help_panel=MORE)
    ] = None,
    lengths: Annotated[
        list[str] | None, typer.Option(help="Same bases, more context: 1x,4x,16x or bases.", rich_help_panel=MORE)
    ] = None,
    rc_average: Annotated[
        bool, typer.Option("--rc-average", help="Both strands: their gap and their mean.", rich_help_panel=MORE)
    ] = False,
    protocol: Annotated[
        str | None, typer.Option(help="paper: the GOAT authors', in its own table.", rich_help_panel=MORE)
    ] = None,
    fasta: Annotated[
        Path | None,
        typer.Option(
            help="FASTA or 2bit file, - for standard input: score both strands, as TSV.", rich_help_panel=OUTPUTS
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for --fasta; default standard output.", rich_help_panel=OUTPUTS)
    ] = None,
    tracks: Annotated[
        Path | None, typer.Option(help="Folder for NLL a base: bedGraph, bigWig.", rich_help_panel=OUTPUTS)
    ] = None,
    prompts: Annotated[int | None, typer.Option(help="Loci that are continued.", rich_help_panel=GENERATION)] = None,
    prompt_length: Annotated[int | None, typer.Option(help="Bases of each.", rich_help_panel=GENERATION)] = None,
    length: Annotated[int | None, typer.Option(help="Bases written after it.", rich_help_panel=GENERATION)] = None,
    samples: Annotated[
        int | None, typer.Option(help="Continuations of each prompt.", rich_help_panel=GENERATION)
    ] = None,
    gc_window: Annotated[int | None, typer.Option(help="Bases of a GC window.", rich_help_panel=GENERATION)] = None,
    gc_stride: Annotated[int | None, typer.Option(help="Bases between them.", rich_help_panel=GENERATION)] = None,
    temperature: Annotated[float | None, typer.Option(help="Of sampling.", rich_help_panel=GENERATION)] = None,
    memory_strength: Annotated[
        float | None, typer.Option(help="What memory adds, times this: 0 to 1.", rich_help_panel=GENERATION)
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="Folder for the results of a run that cannot be written.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Compute again and replace what is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print whole results.")] = False,
) -> None:
    from dnagoat.training.kept.run import open_run
    from dnagoat_cli.terminal import evaluation as view

    view.check_places(fasta, strata or [], out, tracks, force)
    options = view.options_from(
        which=checkpoint,
        seed=seed,
        dataset=dataset,
        other_dataset=other_dataset,
        device=device,
        batch_size=batch_size,
        windows=windows,
        context=context,
        stride=stride,
        block=block,
        resamples=resamples,
        strata=strata,
        lengths=lengths,
        trajectory={
            "prompts": prompts,
            "prompt_length": prompt_length,
            "length": length,
            "samples": samples,
            "gc_window": gc_window,
            "gc_stride": gc_stride,
            "temperature": temperature,
            "memory_strength": memory_strength,
        },
    )
    implied = {"strata": strata, "lengths": lengths, "rc": rc_average, "protocol-paper": view.protocol_asked(protocol)}
    wanted = [*(what or []), *(name for name, asked in implied.items() if asked and name not in (what or []))]
    opened = open_run(run, results)
    if fasta is not None:
        view.score_fasta(opened, fasta, out, options, as_json=as_json)
    if tracks is not None:
        view.write_tracks(opened, tracks, split or ["test"], options, force=force)
    if wanted or (fasta is None and tracks is None):
        view.show_all(view.evaluate_run(opened, wanted, split, options, force), as_json)
