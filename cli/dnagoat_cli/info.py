"""`dnagoat info`: what this machine offers, to read before a long run and to send with a fault."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dnagoat_cli.main import app

HELP = """
Show versions, devices, and which attention kernels run here.

[bold]Examples[/bold]

  dnagoat info

  dnagoat info --json                       [dim]for scripts, or to send with a fault[/dim]
"""

GIB = 2**30


@app.command(help=HELP)
def info(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False) -> None:
    from dnagoat.measure.machine import machine

    facts = machine()
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    table = Table(box=None, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, number in facts["versions"].items():
        table.add_row(name, number or "[dim]not installed[/dim]")
    table.add_section()
    cpu, cuda = facts["cpu"], facts["cuda"]
    table.add_row("processor", f"{cpu['cores']} cores, {cpu['threads']} threads, {cpu['memory'] / GIB:.1f} GiB")
    for device in cuda["devices"]:
        bf16 = "bf16" if device["bf16"] else "no bf16"
        size = f"{device['memory'] / GIB:.1f} GiB"
        table.add_row("GPU", f"{device['name']}, {size}, capability {device['capability']}, {bf16}")
    if not cuda["devices"]:
        table.add_row(
            "GPU", f"none that torch can use ({'CUDA ' + cuda['version'] if cuda['version'] else 'CPU build'})"
        )
    table.add_section()
    for name, fault in facts["kernels"].items():
        table.add_row(f"--kernel {name}", f"no: {fault}" if fault else "yes")
    runs = [name for name, usable in facts["sdpa"].items() if usable]
    table.add_row("sdpa chooses from", ", ".join(runs))
    Console().print(table)
