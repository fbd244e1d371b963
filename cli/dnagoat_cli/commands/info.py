"""`dnagoat info`: versions, devices, usable attention kernels, and on request the proof that they are exact."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from dnagoat_cli.main import app

if TYPE_CHECKING:
    from dnagoat.attention.proof.parity import Parity

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
    from dnagoat_cli.terminal.show import print_json, show_environment, show_parities

    facts = environment()
    if not as_json:
        show_environment(facts)
    rows = _test(device, length) if self_test else None
    if as_json:
        checks = None if rows is None else [{**asdict(row), "held": row.held} for row in rows]
        print_json({**facts, "self_test": checks})
    elif rows is not None:
        show_parities(rows)
    if not all(row.held for row in rows or ()):
        raise typer.Exit(1)


def _test(device: str, length: int) -> list[Parity]:
    """The rows of the self-test, while a bar says what is being compared."""
    from dnagoat.attention.proof.parity import parities
    from dnagoat.training.launch.processes import pick_device
    from dnagoat_cli.terminal.bar import show_progress

    rows = []
    with show_progress("comparing with the float64 reference") as tell:
        for row in parities(str(pick_device(device)), length):
            rows.append(row)
            note = f"{row.subject}, {row.kernel}, {row.precision}"
            tell("comparing with the float64 reference", len(rows), 0, note)
    return rows
