"""What `inspect` does with a run: look through the microscope, show the tables, write figures where asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console

from dnagoat_cli.numbers_view import show_down
from dnagoat_cli.report_view import progress


def inspect_run(
    path: Path,
    *,
    windows: int | None = None,
    split: str = "test",
    device: str = "auto",
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Measures once and keeps the result in the run's folder; `out` receives figures and CSV tables."""
    from dnagoat.evaluation.measures import MeasureOptions, ensure
    from dnagoat.files import write_text
    from dnagoat.reporting import microscope
    from dnagoat.runs import open_run
    from dnagoat.training.distributed import pick_device

    run = open_run(path)
    options = MeasureOptions.model_validate({"split": split, "windows": windows, "device": str(pick_device(device))})
    with progress() as task:
        result = ensure(run, "inspect", options, force=force, progress=task(f"{run.name}: inspect"))
    tables = microscope.tables(result)
    if out is not None:
        for figure in microscope.figures(result):
            figure.save(out / "figures")
        for table in tables:
            write_text(out / "tables" / f"{table.name}.csv", table.csv())
    if as_json:
        sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False)
    for numbers in tables:
        show_down(numbers, console)
