"""How a table of many rows looks in a terminal: rows down, notes below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from dnagoat.reporting.table import Table as Numbers


def show_down(numbers: Numbers, console: Console) -> None:
    """Prints a table as it is; `show` of the report turns it so that models stand side by side."""
    table = Table(title=numbers.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    table.add_column(numbers.first, no_wrap=True)
    for column in numbers.columns:
        table.add_column("\n".join(column.lines()), justify="right")
    for row in numbers.rows:
        table.add_row(row.head, *("\n".join(cell.lines()) for cell in row.cells))
    console.print(table)
    for note in numbers.notes:
        console.print(note, markup=False, style="dim")
