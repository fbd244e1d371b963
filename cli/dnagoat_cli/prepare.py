"""`dnagoat prepare`: from a FASTA file to a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Turn a genome into a dataset: bases, windows, splits.

[bold]Examples[/bold]

  dnagoat prepare demo                                     [dim]three loci of human chromosome 21, no network[/dim]

  dnagoat prepare genome.fa.gz --val chr20 --test chr21

  dnagoat prepare bacterium.fa --window 512 --split-blocks
"""


@app.command(help=EXAMPLES)
def prepare(
    source: Annotated[str, typer.Argument(help="[bold]demo[/bold], or a FASTA file: plain, gzip or bgzip.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; data/NAME by default.")] = None,
    window: Annotated[int, typer.Option(help="Bases in a window.")] = 1024,
    stride: Annotated[int | None, typer.Option(help="Bases between window starts; the window by default.")] = None,
    val: Annotated[
        list[str] | None,
        typer.Option(help="Contig for validation; may be repeated; shared in blocks where --test names it too."),
    ] = None,
    test: Annotated[list[str] | None, typer.Option(help="Contig for the test; may be repeated.")] = None,
    split_blocks: Annotated[bool, typer.Option("--split-blocks", help="Split by blocks with guard gaps.")] = False,
    max_n: Annotated[float, typer.Option(help="Largest share of N in a window.")] = 0.1,
    gaps: Annotated[str, typer.Option(help="What gaps (- . *) get: refuse or drop.")] = "refuse",
    force: Annotated[bool, typer.Option("--force", help="Replace a dataset that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest's summary as JSON.")] = False,
) -> None:
    from dnagoat.genome.prepare import PrepareOptions
    from dnagoat.genome.prepare import prepare as run
    from dnagoat_cli.passport import bases_bar, show_dataset

    options = PrepareOptions(
        window=window,
        stride=stride,
        val=tuple(val or ()),
        test=tuple(test or ()),
        split="blocks" if split_blocks else "contig",
        max_n=max_n,
        gaps=gaps,  # the configuration checks it
        force=force,
    )
    target = out or Path("data") / _name(source)
    with bases_bar() as report:
        dataset = run(source, target, options, report)
    show_dataset(dataset, as_json)


def _name(source: str) -> str:
    name = Path(source).name
    for ending in (".gz", ".bgz", ".fa", ".fasta", ".fna", ".2bit"):
        name = name.removesuffix(ending)
    return name or "dataset"
