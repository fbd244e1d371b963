"""`dnagoat inspect`: what a folder holds, told by the file that every folder of its kind has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dnagoat_cli.main import app

HELP = """
Show what a dataset or a run holds, and whether it is still whole.

[bold]Examples[/bold]

  dnagoat inspect data/demo                 [dim]its passport: contigs, splits, GC, N and soft-masking[/dim]

  dnagoat inspect data/demo --verify        [dim]every hash and count taken again[/dim]

  dnagoat inspect data/hg38 --leakage       [dim]near-copies of validation and test windows in training[/dim]

  dnagoat inspect data/hg38 --splits splits.bed    [dim]where training, validation and test lie, for bedtools[/dim]

  dnagoat inspect runs/goat --out look/     [dim]each head's prior, content against it, what each part is worth[/dim]
"""

RUN = "Of a run"


class Request(NamedTuple):
    """What was asked for beside the plain view."""

    verify: bool
    leakage: bool
    source: Path | None
    as_json: bool
    windows: int | None = None
    split: str = "test"
    device: str = "auto"
    out: Path | None = None
    force: bool = False
    results: Path | None = None
    dataset: Path | None = None
    checkpoint: str = "best"
    splits: Path | None = None


@app.command("inspect", help=HELP)
def inspect_(
    path: Annotated[Path, typer.Argument(help="A dataset's folder, or a run's.", show_default=False)],
    verify: Annotated[bool, typer.Option("--verify", help="Take every hash and count again.")] = False,
    source: Annotated[Path | None, typer.Option(help="With --verify: the file it was prepared from.")] = None,
    leakage: Annotated[bool, typer.Option("--leakage", help="Look for held-out windows in training.")] = False,
    splits: Annotated[
        Path | None,
        typer.Option(help="BED file to write, - for standard output: where each split lies, its name in column 4."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
    windows: Annotated[
        int | None, typer.Option(min=1, help="Real windows looked at; 16 by default.", rich_help_panel=RUN)
    ] = None,
    split: Annotated[str, typer.Option(help="Where they are from.", rich_help_panel=RUN)] = "test",
    dataset: Annotated[
        Path | None, typer.Option(help="The run's dataset, where it has moved.", rich_help_panel=RUN)
    ] = None,
    checkpoint: Annotated[str, typer.Option(help="best (on validation) or last.", rich_help_panel=RUN)] = "best",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=RUN)] = "auto",
    out: Annotated[Path | None, typer.Option(help="Folder for figures and CSV tables.", rich_help_panel=RUN)] = None,
    force: Annotated[bool, typer.Option("--force", help="Measure again; replace the file of --splits.")] = False,
    results: Annotated[
        Path | None, typer.Option(help="Folder for what is found in a run or dataset that cannot be written.")
    ] = None,
) -> None:
    from dnagoat.errors import OptionError
    from dnagoat.genome.store.folder import MANIFEST
    from dnagoat.training.kept.run import CONFIG

    if source is not None and not verify:
        raise OptionError("--source is the file that --verify compares; give both")
    if (verify or leakage or splits) and (path / CONFIG).is_file():
        raise OptionError(
            f"--verify, --leakage and --splits are about a dataset, and {path} is a run; name its dataset"
        )
    if splits is not None and (verify or leakage or as_json):
        raise OptionError("--splits writes a BED file and nothing else; leave out --verify, --leakage and --json")
    request = Request(
        verify, leakage, source, as_json, windows, split, device, out, force, results, dataset, checkpoint, splits
    )
    if (path / MANIFEST).is_file():
        from dnagoat_cli.terminal.datasets import inspect_dataset, write_splits

        if splits is not None:
            write_splits(path, splits, force=force)
        else:
            inspect_dataset(path, request)
    elif (path / CONFIG).is_file():
        from dnagoat_cli.terminal.microscope import inspect_run

        inspect_run(path, request)
    else:
        raise OptionError(f"{path} is neither a dataset (manifest.json) nor a run (config.json)")
