"""`dnagoat embed`: vectors of regions, windows or sequences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options.weights import Checkpoint

HELP = """
What does a model make of each region, window or sequence? One vector each, from any of its layers.

Formulas, formats, and how long ones are read: docs/embeddings.md.

[bold]Examples[/bold]

  dnagoat embed runs/goat --regions exons.bed --genome hg38.fa --out exons.parquet

  dnagoat embed runs/goat --split test --windows 5000 --layer 3 --out windows.npy

  dnagoat embed runs/goat --fasta mine.fa --strands both --out mine.h5ad

  dnagoat embed runs/goat --regions exons.bed --genome hg38.fa --out exons.parquet --figure exons.png --column 4
"""

SOURCE = "What is embedded (one of these)"


@app.command(help=HELP)
def embed(
    run: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    out: Annotated[
        Path, typer.Option(help=".parquet, .npy (with a .tsv of places) or .h5ad; - is Parquet on standard output.")
    ],
    regions: Annotated[
        Path | None, typer.Option(help="BED file (plain, gzip, -), with --genome.", rich_help_panel=SOURCE)
    ] = None,
    genome: Annotated[
        Path | None, typer.Option(help="FASTA (plain, gzip, bgzip) or 2bit file.", rich_help_panel=SOURCE)
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Windows of the run's dataset: train, val or test.", rich_help_panel=SOURCE)
    ] = None,
    windows: Annotated[
        int | None, typer.Option(min=1, help="So many of them, spread over the split.", rich_help_panel=SOURCE)
    ] = None,
    fasta: Annotated[
        Path | None, typer.Option(help="Records of a FASTA or 2bit file, - for standard input.", rich_help_panel=SOURCE)
    ] = None,
    layer: Annotated[
        str, typer.Option(help="norm (what the output reads), embedding, or a block: 1, 2, ..., -1 the last.")
    ] = "norm",
    pool: Annotated[str, typer.Option(help="mean over bases, or the state at the last base.")] = "mean",
    strands: Annotated[str, typer.Option(help="own (as a region's strand says), or both, averaged.")] = "own",
    before: Annotated[int | None, typer.Option(help="Bases before a region that are read; default half.")] = None,
    context: Annotated[int | None, typer.Option(help="Bases read at once; default those of training.")] = None,
    stride: Annotated[int | None, typer.Option(help="Bases by which a long one's pieces move; default half.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Principal components: .png, .svg or .pdf; coloured by --column.")
    ] = None,
    column: Annotated[
        int | None, typer.Option(min=1, help="Column of the BED file, counted from 1, that colours the figure.")
    ] = None,
    checkpoint: Checkpoint = "best",
    dataset: Annotated[Path | None, typer.Option(help="The run's dataset, where it has moved.")] = None,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Training windows' worth of bases at once; changes no result.")
    ] = 64,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    from dnagoat_cli.options.weights import Weights
    from dnagoat_cli.terminal import embeddings

    how = {"layer": layer, "pool": pool, "strands": strands, "before": before, "context": context, "stride": stride}
    embeddings.embed(
        run,
        embeddings.Asked(regions, genome, split, windows, fasta),
        Weights(checkpoint, dataset, batch_size, device),
        embeddings.Drawn(figure, column),
        out,
        force=force,
        options=how,
    )
