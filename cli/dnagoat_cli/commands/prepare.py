"""`dnagoat prepare`: from a FASTA file, or a genome known by name, to a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options.unfold import unfold

if TYPE_CHECKING:
    from dnagoat.genome.preparation import PrepareOptions

HELP = """
Turn a genome into a dataset: bases, windows, splits.

[bold]Examples[/bold]

  dnagoat prepare demo                                     [dim]three loci of human chromosome 21, no network[/dim]

  dnagoat prepare hg38                                     [dim]fetched once, resumed where it broke off[/dim]

  dnagoat prepare genome.fa.gz --val chr20 --test chr21

  dnagoat prepare bacterium.fa --window 512 --split-blocks

  zcat a.fa.gz b.fa.gz | dnagoat prepare - --split-blocks --out data/both

  dnagoat prepare human.fa mouse.fa.gz --val human:chr20 --test mouse    [dim]a contig, a whole genome[/dim]

  dnagoat prepare genome.fa --val chr20 --test chr21 --drop-copies

  dnagoat prepare --list                                   [dim]the genomes that have a name[/dim]
"""

Contigs = Annotated[
    list[str] | None,
    typer.Option(help="Contig (or genome of several) of this split; may be repeated.", show_default=False),
]


@dataclass(frozen=True)
class Rules:
    """How the source is read, tiled and divided."""

    window: Annotated[int, typer.Option(help="Bases in a window.")] = 1024
    stride: Annotated[int | None, typer.Option(help="Bases from start to start.", show_default="the window")] = None
    val: Contigs = None
    test: Contigs = None
    split_blocks: Annotated[bool, typer.Option("--split-blocks", help="Split by blocks with guard gaps.")] = False
    max_n: Annotated[float, typer.Option(help="Largest share of N in a window.")] = 0.1
    gaps: Annotated[str, typer.Option(help="What gaps (- . *) get: refuse or drop.")] = "refuse"
    regions: Annotated[Path | None, typer.Option(help="BED file: prepare only these intervals.")] = None
    all_contigs: Annotated[bool, typer.Option("--all-contigs", help="Keep more than the chromosomes.")] = False
    overlaps: Annotated[str, typer.Option(help="Bases that two records hold: refuse or trim.")] = "refuse"
    drop_copies: Annotated[
        bool, typer.Option("--drop-copies", help="Training windows that are near-copies of held-out ones leave.")
    ] = False
    catalogue: Annotated[Path | None, typer.Option(help="TOML file with genomes of your own.")] = None
    offline: Annotated[bool, typer.Option("--offline", help="Take a genome from the cache, never the net.")] = False
    workers: Annotated[int, typer.Option(help="Threads.")] = 2
    bed: Annotated[bool, typer.Option("--bed", help="Write windows.bed too.")] = False
    force: Annotated[bool, typer.Option("--force", help="Replace a dataset that is there.")] = False

    def options(self) -> PrepareOptions:
        from dnagoat.genome.preparation import PrepareOptions

        return PrepareOptions(
            window=self.window,
            stride=self.stride,
            val=tuple(self.val or ()),
            test=tuple(self.test or ()),
            split="blocks" if self.split_blocks else "contig",
            max_n=self.max_n,
            gaps=self.gaps,  # the configuration checks it
            contigs="all" if self.all_contigs else "primary",
            overlaps=self.overlaps,  # as here
            copies="drop" if self.drop_copies else "keep",
            regions=self.regions,
            catalogue=self.catalogue,
            offline=self.offline,
            workers=self.workers,
            bed=self.bed,
            force=self.force,
        )


@app.command(help=HELP)
@unfold
def prepare(
    rules: Rules,
    source: Annotated[
        list[str] | None,
        typer.Argument(
            help="A genome's name (--list), or a file: FASTA (plain, gzip, bgzip) or 2bit; - is standard input. "
            "Of several each is a genome, and contigs are called GENOME:CONTIG.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write.", show_default="data/NAME")] = None,
    memory: Annotated[
        bool, typer.Option("--memory", help="Count the training split too, for models with memory.")
    ] = False,
    memory_budget: Annotated[float, typer.Option(help="Most that memory may take, in GB.")] = 8.0,
    show_list: Annotated[bool, typer.Option("--list", help="Show the genomes that have a name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    from dnagoat.errors import OptionError
    from dnagoat.genome.fetch.assemblies import catalogue as known
    from dnagoat.genome.origins import name_dataset
    from dnagoat.genome.preparation import prepare as run
    from dnagoat_cli.terminal.bar import show_stages
    from dnagoat_cli.terminal.datasets import count_training, show_catalogue, show_dataset

    if show_list:
        show_catalogue(known(rules.catalogue), as_json)
        return
    if not source:
        raise OptionError("give a genome's name (see `dnagoat prepare --list`) or a FASTA file")
    options = rules.options()
    with show_stages() as report:
        dataset = run(source, out or Path("data") / "-".join(map(name_dataset, source)), options, report)
    if memory:
        count_training(dataset, memory_budget)
    show_dataset(dataset, as_json)
