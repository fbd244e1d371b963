"""How a report looks in a terminal: its tables, the verdict, and where the page is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from dnagoat_cli.terminal.grid import draw_tables
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.reporting.document import Report


def show(made: Report, page: Path, as_json: bool = False) -> None:
    """The first tables, then the verdict; the page's path last."""
    if as_json:
        sys.stdout.write(json_text(made.as_dict()))
        return
    console = Console(highlight=False)
    draw_tables(made.tables, console)
    console.print(made.verdict.sentence, style="bold", markup=False)
    for remark in made.verdict.remarks:
        console.print(f"  • {remark}", markup=False)
    console.print()
    console.print(f"report: {page}", markup=False, soft_wrap=True)
