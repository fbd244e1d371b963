"""`dnagoat report`: from runs, a comparison or probes to one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Show runs on one page: verdict, tables, figures, methods.

What a run has not measured yet is computed and kept in its folder, once.
The page opens offline; beside it: Markdown, JSON, CSV, and figures as SVG, PDF, PNG.

[bold]Examples[/bold]

  dnagoat report runs/goat runs/rope --out reports/mine

  dnagoat report runs/compare                              [dim]a folder that compare wrote: a verdict over seeds[/dim]

  dnagoat report runs/goat --skip generation --windows 200 [dim]sooner[/dim]

  dnagoat report runs/goat runs/rope --bench bench.json    [dim]with speed and memory that `bench` measured[/dim]
"""

SOONER = "What is computed where it is missing"


@app.command(help=EXAMPLES)
def report(
    paths: Annotated[list[Path], typer.Argument(help="Folders that `train`, `compare` or `probe` wrote.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; reports/NAMES by default.")] = None,
    bench: Annotated[list[Path] | None, typer.Option(help="File that `bench --out` wrote; repeatable.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the content of results.json.")] = False,
    skip: Annotated[
        list[str] | None,
        typer.Option(help="nll, strata, lengths, generation, leakage …; repeatable.", rich_help_panel=SOONER),
    ] = None,
    windows: Annotated[
        int | None, typer.Option(min=1, help="Windows scored of each split; all by default.", rich_help_panel=SOONER)
    ] = None,
    prompts: Annotated[
        int | None, typer.Option(min=2, help="Prompts that are continued; 128 by default.", rich_help_panel=SOONER)
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(help="The runs' dataset, where it has moved.", rich_help_panel=SOONER)
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=SOONER)] = "auto",
    results: Annotated[
        Path | None,
        typer.Option(help="Folder for the results of runs that cannot be written.", rich_help_panel=SOONER),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, help="Windows at once; changes no result. Default: what fits.", rich_help_panel=SOONER),
    ] = None,
) -> None:
    import shlex
    import sys

    from dnagoat.reporting import document as reports
    from dnagoat.reporting.missing import measure_missing, options_for
    from dnagoat.reporting.sources import read, sources
    from dnagoat.streams import refuse_two_readers
    from dnagoat_cli.terminal.bar import say, show_progress
    from dnagoat_cli.terminal.show import show_report

    found = sources(paths)
    target = out or Path("reports") / "-".join(path.resolve().name for path in paths)
    refuse_two_readers(*(("--bench", file) for file in bench or []))
    with reports.new_report(target, force=force) as folder:
        options = options_for(
            found, windows=windows, prompts=prompts, dataset=dataset, device=device, batch_size=batch_size
        )
        with show_progress() as progress:
            measure_missing(found.open_runs(results), options, skip or [], results=results, progress=progress, say=say)
            progress("drawing the report", 0, 0)
            shown = read(paths, bench=bench or [], results=results, dataset=dataset)
            made = reports.report(shown, shlex.join(["dnagoat", *sys.argv[1:]]))
            made.fill(folder)
    show_report(made, target / reports.PAGE, as_json)
