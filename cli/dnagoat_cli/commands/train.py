"""`dnagoat train`: from a dataset to a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options import runs as o
from dnagoat_cli.options.schemes import GIVEN, WithSchemes
from dnagoat_cli.options.unfold import settings, unfold

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.genome.dataset import Dataset
    from dnagoat.training.launch.parallel import Execution

EXAMPLES = """
Train a nucleotide language model, or continue one.

[bold]Examples[/bold]

  dnagoat train data/demo --position goat --preset tiny --out runs/goat

  dnagoat train data/demo --position goat --goat-parts spectral,recency --out runs/parts

  dnagoat train --out runs/goat --resume                    [dim]after a kill, a time limit, Ctrl-C[/dim]

  dnagoat train data/mine --from runs/goat --lr 1e-4 --out runs/tuned   [dim]from trained weights[/dim]

  torchrun --nproc-per-node 8 -m dnagoat_cli train data/hg38 --preset 125m --out runs/big
"""


@app.command(help=EXAMPLES, cls=WithSchemes)
@unfold
def train(
    ctx: typer.Context,
    shared: o.Shared,
    own: o.OneRun,
    computing: o.Computing,
    dataset: Annotated[Path | None, typer.Argument(help="Folder that `prepare` wrote; not needed to resume.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder to write; runs/POSITION-PRESET by default.")] = None,
    preset: o.Preset = None,
    origin: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Run whose best weights it starts from, on this dataset and from step 1. Its model stays; steps, "
            "batch size, rates and all other settings are that run's unless given here, not a preset's.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the newest whole checkpoint.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost, and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary or the plan as JSON.")] = False,
    log: Annotated[str | None, typer.Option(help="tensorboard: event files beside metrics.jsonl.")] = None,
    match_parameters: o.MatchParameters = False,
    device: o.Device = "auto",
) -> None:
    from dnagoat.attention.schemes.registry import DEFAULT
    from dnagoat.errors import Stopped
    from dnagoat.training.kept.event_log import log_steps
    from dnagoat.training.launch.processes import place
    from dnagoat.training.launch.stop import stop_asked
    from dnagoat.training.loop import train as run
    from dnagoat.training.presets import NAME
    from dnagoat_cli.options.configuration import configuration, say
    from dnagoat_cli.terminal.bar import watch
    from dnagoat_cli.terminal.show import show_summary

    options = {**settings(shared), **own.settings(), **ctx.meta[GIVEN]}
    folder = out or Path("runs") / f"{options.get(NAME, DEFAULT)}-{preset or 'small'}"
    config, data = configuration(dataset, folder, preset, options, resume=resume, match=match_parameters, origin=origin)
    how = computing.execution()
    if plan:
        _plan(config, data, device, how, as_json)
        return
    main = place()[0] == 0
    with stop_asked() as stop:
        steps_made = run(
            config, folder, resume=resume, force=force, device=device, how=how, dataset=data, stop=stop, say=say
        )
        try:
            watch(log_steps(steps_made, folder, log if main else None), folder.name, quiet=not main)
        except Stopped:
            if main:
                say("continue with --resume")
            raise
    if main:
        show_summary(folder, as_json)


def _plan(config: RunConfig, dataset: Dataset, device: str, how: Execution, as_json: bool) -> None:
    """Says what a run costs before it is begun: the speed is measured, over a few steps, on this device."""
    from dnagoat.training.launch.processes import pick_device, place
    from dnagoat.training.plan import plan, with_speed
    from dnagoat_cli.terminal.bar import show_progress
    from dnagoat_cli.terminal.show import show_plan

    here, processes = pick_device(device), place()[1]
    planned = plan(config, here, how, processes=processes, dataset=dataset)
    with show_progress("measuring the speed of a step"):
        planned = with_speed(planned, config, here, processes)
    show_plan(config, planned, str(here), as_json)
