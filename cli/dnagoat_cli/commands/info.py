"""`dnagoat info`: versions, devices, usable attention kernels, and on request the proof that they are exact."""

from __future__ import annotations

from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Show versions, devices and usable attention kernels.

With --self-test every position scheme and kernel is compared with an explicit float64 reference on this device: the
errors and their bars are printed, and the exit code is 1 if one is missed.

[bold]Examples[/bold]

  dnagoat info

  dnagoat info --self-test                          [dim]about a minute on a CPU[/dim]

  dnagoat info --self-test --device cuda --json > parity.json
"""


@app.command(help=EXAMPLES)
def info(
    self_test: Annotated[bool, typer.Option("--self-test", help="Check exactness on a device.")] = False,
    device: Annotated[str, typer.Option(help="Where the self-test runs: auto, cpu, cuda or cuda:N.")] = "auto",
    length: Annotated[int, typer.Option(min=2, max=4096, help="Bases in the self-test.")] = 512,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from dnagoat.measure.environment import environment
    from dnagoat_cli.terminal import machine as view

    facts = environment()
    if not as_json:
        view.show_environment(facts)
    rows = view.tested(device, length) if self_test else None
    if as_json:
        view.print_json(facts, rows)
    elif rows is not None:
        view.show_parities(rows)
    if not all(row.held for row in rows or ()):
        raise typer.Exit(1)
