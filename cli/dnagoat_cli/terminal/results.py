"""What results of `evaluate` look like in a terminal: the tables of their section, warnings, files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from dnagoat.reporting.contents import section_of
from dnagoat_cli.terminal.grid import draw_tables

if TYPE_CHECKING:
    from dnagoat.evaluation.measure import Result


def draw(found: list[tuple[Result, Path]]) -> None:
    """All results, those of one measure together, then warnings and files."""
    console, stderr = Console(highlight=False), Console(stderr=True, highlight=False)
    results = [result for result, _ in found]
    for measure in dict.fromkeys(result["measure"] for result in results):
        tabulate = section_of(measure).of_results
        draw_tables(tabulate([result for result in results if result["measure"] == measure]), console)
    for result in results:
        for warning in result.get("warnings", []):
            said = f"warning: {result['measure']} {result['split']}: {warning}"
            stderr.print(said, markup=False, soft_wrap=True)
    for _, path in found:
        console.print(str(path), markup=False, soft_wrap=True)
