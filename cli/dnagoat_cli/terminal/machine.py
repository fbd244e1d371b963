"""How `info` draws what the machine offers and what the self-test found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.progress import show_progress

if TYPE_CHECKING:
    from dnagoat.attention.proof.parity import Parity


def show_environment(facts: dict[str, Any]) -> None:
    from rich.console import Console

    from dnagoat_cli.terminal.table import Table

    console = Console()
    packages = "   ".join(f"{name} {version}" for name, version in facts["packages"].items() if version)
    console.print(f"[bold]dnagoat {facts['dnagoat']}[/bold]   python {facts['python']}   {facts['system']}")
    console.print(packages, style="dim")
    table = Table("device", "name", "cores", "memory", title="Devices", title_justify="left", box=None)
    for row in facts["devices"]:
        memory = "" if row["memory"] is None else f"{row['memory'] / 2**30:.0f} GiB"
        table.add_row(row["device"], row["name"], str(row["cores"]), memory)
    console.print(table)
    console.print(f"Subnormal numbers on the CPU: {facts['subnormals']}")
    table = Table("kernel", "usable", title="Attention kernels", title_justify="left", box=None)
    for name, fault in facts["kernels"].items():
        limit = f" up to {facts['dense_limit']:,} keys; for sparse normalisers" if name == "dense" else ""
        table.add_row(name, f"[green]yes[/green]{limit}" if fault is None else f"[yellow]no[/yellow]: {fault}")
    console.print(table)


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

    from dnagoat_cli.terminal.table import Table

    title = f"Error against the explicit float64 reference, {rows[0].length:,} bases"
    table = Table("scheme", "what", "precision", "kernel", title=title, title_justify="left", box=None)
    table.add_column("error", justify="right")
    table.add_column("at most", justify="right")
    for row in rows:
        style = None if row.held else "bold red"
        numbers = f"{row.error:.1e}", f"{row.bar:.0e}"
        table.add_row(row.subject, row.quantity, row.precision, row.kernel, *numbers, style=style)
    console = Console()
    console.print(table)
    missed = sum(not row.held for row in rows)
    console.print("[green]all held[/green]" if not missed else f"[bold red]{missed} of {len(rows)} missed[/bold red]")


def print_json(facts: dict[str, Any], rows: Sequence[Parity] | None) -> None:
    checks = None if rows is None else [{**asdict(row), "held": row.held} for row in rows]
    sys.stdout.write(json_text({**facts, "self_test": checks}))
