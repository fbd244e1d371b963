"""How `info` draws what the machine offers and what the self-test found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.attention.proof.parity import Parity


def show_environment(facts: dict[str, Any]) -> None:
    from rich.console import Console

    from dnagoat.reporting.sections.machine import devices, kernels
    from dnagoat_cli.terminal.grid import draw_tables

    console = Console(highlight=False)
    packages = "   ".join(f"{name} {version}" for name, version in facts["packages"].items() if version)
    console.print(f"[bold]dnagoat {facts['dnagoat']}[/bold]   python {facts['python']}   {facts['system']}")
    console.print(packages, style="dim")
    draw_tables([devices(facts), kernels(facts)], console)
    console.print(f"Subnormal numbers on the CPU: {facts['subnormals']}")


def tested(device: str, length: int) -> list[Parity]:
    """Runs the self-test, while it is told what is being compared."""
    from dnagoat.attention.proof.parity import parities
    from dnagoat.training.launch.processes import pick_device

    rows = []
    with show_progress("comparing with the float64 reference") as tell:
        for row in parities(str(pick_device(device)), length):
            rows.append(row)
            note = f"{row.subject}, {row.kernel}, {row.precision}"
            tell("comparing with the float64 reference", len(rows), 0, note)
    return rows


def show_parities(rows: Sequence[Parity]) -> None:
    from rich.console import Console

    from dnagoat.reporting.sections.machine import parities
    from dnagoat_cli.terminal.grid import draw_table

    draw_table(parities(rows), Console(highlight=False))


def print_json(facts: dict[str, Any], rows: Sequence[Parity] | None) -> None:
    checks = None if rows is None else [{**asdict(row), "held": row.held} for row in rows]
    sys.stdout.write(json_text({**facts, "self_test": checks}))
