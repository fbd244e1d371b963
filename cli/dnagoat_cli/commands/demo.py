"""`dnagoat demo`: the whole job on real human DNA."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app

EXAMPLES = """
Prepare human DNA, train RoPE, GOAT and GOAT with memory on it, generate, and compare them in a report.

Needs no network; a bar says how long each part takes here.
Stopped half-way, it continues there; once complete, it shows its result again.
Writes data/demo, runs/demo and reports/demo.

[bold]Examples[/bold]

  dnagoat demo

  dnagoat demo --folder /tmp/try

  dnagoat demo --open                                      [dim]and the page in a browser[/dim]

  dnagoat demo --steps 1400 --folder longer                [dim]ten times the training: models begin to differ[/dim]
"""


@app.command(help=EXAMPLES)
def demo(
    folder: Annotated[Path, typer.Option(help="Where data/, runs/ and reports/ are written.")] = Path(),
    steps: Annotated[int | None, typer.Option(min=1, help="Training steps of each model.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser when it is done.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Begin again, replacing an earlier demo.")] = False,
) -> None:
    from time import monotonic

    from dnagoat.folders import may_fill
    from dnagoat_cli import demonstration as stages

    may_fill(folder, "--folder")
    began = monotonic()
    plan = stages.plan(folder, steps)
    with stages.own_advice():
        dataset = stages.prepare_dataset(plan, force)
        runs = [stages.train_arm(plan, dataset, arm, force) for arm in stages.ARMS]
        stages.write_samples(runs)
        verdict = stages.write_report(plan, runs, force)
    stages.farewell(plan, monotonic() - began, verdict)
    if show:
        stages.open_page(plan)
