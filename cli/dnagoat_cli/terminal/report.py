"""How a report looks in a terminal: its tables, the verdict, and where the page is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console

from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.table import Table

if TYPE_CHECKING:
    from dnagoat.reporting.report import Report
    from dnagoat.reporting.table import Table as Numbers


HEADS = 28  # characters that the names of measures need


def show(made: Report, page: Path, as_json: bool = False) -> None:
    """The verdict and the first tables, measures down and models across; the page's path last."""
    if as_json:
        sys.stdout.write(json_text(made.as_dict()))
        return
    console = Console(highlight=False)
    for numbers in made.tables:
        for table in _tables(numbers, console.width):
            console.print(table)
    console.print(f"[bold]{made.verdict.sentence}[/bold]")
    for remark in made.verdict.remarks:
        console.print(f"  • {remark}", markup=False)
    console.print()
    console.print(f"report: {page}", markup=False, soft_wrap=True)


def _tables(numbers: Numbers, width: int) -> Iterator[Table]:
    """As many tables as it takes: measures down, and no more models across than the terminal is wide."""
    head, *body = numbers.transposed()
    widths = [
        max(len(line) for cell in column for line in cell.split("\n")) for column in zip(head, *body, strict=True)
    ]
    first, *others = range(len(head))
    while others:
        shown = [first, others.pop(0)]
        while others and HEADS + sum(widths[place] + 3 for place in [*shown[1:], others[0]]) <= width:
            shown.append(others.pop(0))
        table = Table(title=numbers.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
        for place in shown:
            table.add_column(head[place], justify="right") if place else table.add_column(max_width=HEADS)
        for row in body:
            table.add_row(*(row[place] for place in shown))
        yield table
