"""What a comparison shows in the terminal: its tables, then the verdict in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from dnagoat.reporting.sections.comparison import every_table
from dnagoat_cli.terminal.grid import draw_tables
from dnagoat_cli.terminal.letters import json_text


def show(result: dict[str, Any], out: Path, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json_text(result))
        return
    console = Console(highlight=False)
    draw_tables(every_table(result), console)
    console.print(result["verdict"], style="bold", markup=False)
    said = f"{out / 'comparison.json'}; `dnagoat report {out}` makes a page"
    console.print(said, style="dim", markup=False, soft_wrap=True)
