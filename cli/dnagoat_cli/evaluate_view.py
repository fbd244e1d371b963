"""How `evaluate` makes its options, shows its progress and prints a result."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dnagoat.evaluation.measures import MeasureOptions, Progress, Result

QUIET = {"format", "measure", "settings", "checkpoint", "command", "warnings", "dinucleotides", "homopolymers"}


def options_from(*, device: str, trajectory: dict[str, Any], **given: Any) -> MeasureOptions:
    """The options that were given; what was not keeps its default."""
    from dnagoat.evaluation.measures import MeasureOptions
    from dnagoat.evaluation.trajectory import TrajectoryOptions
    from dnagoat.training.distributed import pick_device

    asked = {name: value for name, value in given.items() if value is not None}
    of_trajectory = {name: value for name, value in trajectory.items() if value is not None}
    return MeasureOptions(**asked, device=str(pick_device(device)), trajectory=TrajectoryOptions(**of_trajectory))


def measured(run: Path, what: str, options: MeasureOptions, force: bool) -> tuple[Result, Path]:
    """The result, computed under a bar where it is missing, and the file that holds it."""
    from dnagoat.evaluation.measures import chosen, ensure
    from dnagoat.runs import open_run

    measure, opened = chosen(what), open_run(run)
    with _bar() as progress:
        result = ensure(opened, what, options, force=force, progress=progress)
    return result, measure.path(opened, options)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def show(result: Result, path: Path, as_json: bool) -> None:
    """The result as JSON, or its short lines as a table; long lists stay in the file."""
    if as_json:
        sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("", "", box=None, show_header=False, pad_edge=False)
    table.columns[0].no_wrap = True
    for name, value in _short(result):
        table.add_row(name, value)
    console = Console()
    console.print(table)
    for warning in result.get("warnings", []):
        sys.stderr.write(f"warning: {warning}\n")
    console.print(str(path), soft_wrap=True, highlight=False)


def _short(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Names and values of what fits a line, depth first."""
    if isinstance(value, dict):
        if "r" in value:
            yield name, _correlation(value)
            return
        for key, inner in value.items():
            if key not in QUIET:
                yield from _short(inner, f"{name} {key}".strip())
    elif isinstance(value, list):
        for row in value:
            if isinstance(row, dict) and all(not isinstance(cell, (dict, list)) for cell in row.values()):
                cells = [f"{key} {_number(cell)}" for key, cell in row.items()]
                yield f"{name} {cells[0]}", ", ".join(cells[1:])
    else:
        yield name, _number(value)


def _correlation(value: dict[str, Any]) -> str:
    interval = value.get("interval")
    return _number(value["r"]) + (f"  [{interval[0]:+.3f}, {interval[1]:+.3f}]" if interval else "")


def _number(value: Any) -> str:
    if value is None:
        return "n/a"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
