"""`dnagoat report`: from runs to one page that compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Compare runs on one page: verdict, tables, figures, methods.

Measures that a run does not have yet are computed and kept in its folder, once.

[bold]Examples[/bold]

  dnagoat report runs/goat runs/rope --out reports/mine

  dnagoat report runs/goat --skip generation               [dim]without sampling DNA, which takes longest[/dim]
"""


@app.command(help=EXAMPLES)
def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders that `train` wrote.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; reports/NAMES by default.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Measure that is not computed; may be repeated.")] = None,
    device: Annotated[str, typer.Option(help="Where missing measures are computed: auto, cpu, cuda.")] = "auto",
    batch_size: Annotated[int, typer.Option(help="Windows read at once; changes no result.")] = 64,
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the content of results.json.")] = False,
) -> None:
    from dnagoat.reporting.report import free, report
    from dnagoat.reporting.results import Results, read_runs
    from dnagoat.runs import open_run
    from dnagoat_cli.report_view import measured, repeated, show

    opened = [open_run(path) for path in runs]
    target = out or Path("reports") / "-".join(run.name for run in opened)
    free(target, force=force)
    measured(opened, device=device, batch_size=batch_size, skip=skip or [])
    made = report(Results(read_runs(runs)), repeated(runs, target))
    page = made.write(target, force=force)
    show(made, page, as_json)
