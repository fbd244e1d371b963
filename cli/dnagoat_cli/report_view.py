"""How a report looks in a terminal: its tables, the verdict, and where the page is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from dnagoat.reporting.report import Report
    from dnagoat.reporting.table import Table as Numbers


def show(made: Report, page: Path, as_json: bool = False) -> None:
    """The verdict and the first tables, measures down and models across; the page's path last."""
    if as_json:
        sys.stdout.write(json.dumps(made.as_dict(), indent=2, ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False)
    for numbers in made.tables:
        console.print(_table(numbers))
    console.print(f"[bold]{made.verdict.sentence}[/bold]")
    for remark in made.verdict.remarks:
        console.print(f"  • {remark}", markup=False)
    console.print()
    console.print(f"report: {page}", markup=False, soft_wrap=True)


def _table(numbers: Numbers) -> Table:
    head, *body = numbers.transposed()
    table = Table(title=numbers.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, name in enumerate(head):
        table.add_column(name, justify="right" if index else "left", no_wrap=index > 0)
    for row in body:
        table.add_row(*row)
    return table
