"""What `inspect` does with a run: look through the microscope, show the tables, write figures where asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.grid import draw_tables
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat_cli.commands.inspect import Request


def inspect_run(path: Path, request: Request) -> None:
    """Measures once and keeps the result in the run's folder; `--out` receives figures and CSV tables."""
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.results import ensure
    from dnagoat.files import write_text
    from dnagoat.folders import fill_alone, may_fill
    from dnagoat.reporting.sections import inspect as microscope
    from dnagoat.training.kept.run import open_run
    from dnagoat.training.launch.processes import pick_device

    if request.out is not None:
        may_fill(request.out, "--out")
    run = open_run(path, request.results)
    asked = {
        "split": request.split,
        "windows": request.windows,
        "device": str(pick_device(request.device)),
        "dataset": request.dataset,
        "which": request.checkpoint,
    }
    options = MeasureOptions.model_validate(asked)
    with show_progress() as progress:
        result = ensure(run, "inspect", options, force=request.force, progress=progress)
        tables = microscope.tables(result)
        if request.out is not None:
            progress("drawing figures", 0, 0)
            with fill_alone(request.out, "--out", "inspect"):
                for figure in microscope.figures(result):
                    figure.save(request.out / "figures")
                for table in tables:
                    write_text(request.out / "tables" / f"{table.name}.csv", table.csv())
    if request.as_json:
        sys.stdout.write(json_text(result))
        return
    console = Console(highlight=False)
    draw_tables(tables, console)
