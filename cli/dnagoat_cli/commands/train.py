"""`dnagoat train`: from a dataset to a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options import training as o
from dnagoat_cli.options.schemes import GIVEN, WithSchemes

EXAMPLES = """
Train a nucleotide language model, or continue one.

[bold]Examples[/bold]

  dnagoat train data/demo --position goat --preset tiny --out runs/goat

  dnagoat train data/demo --position goat --goat-parts spectral,recency --out runs/parts

  dnagoat train --out runs/goat --resume                    [dim]after a kill, a time limit, Ctrl-C[/dim]

  torchrun --nproc-per-node 8 -m dnagoat_cli train data/hg38 --preset 125m --out runs/big
"""


@app.command(help=EXAMPLES, cls=WithSchemes)
def train(
    ctx: typer.Context,
    dataset: Annotated[Path | None, typer.Argument(help="Folder that `prepare` wrote; not needed to resume.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder to write; runs/POSITION-PRESET by default.")] = None,
    preset: o.Preset = None,
    steps: o.Steps = None,
    batch_size: o.BatchSize = None,
    seed: Annotated[int | None, typer.Option(help="Of initial weights and data order.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the newest whole checkpoint.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost, and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary or the plan as JSON.")] = False,
    log: Annotated[str | None, typer.Option(help="tensorboard: event files beside metrics.jsonl.")] = None,
    memory: o.Memory = False,
    memory_families: o.MemoryFamilies = None,
    match_parameters: o.MatchParameters = False,
    momentum: o.Momentum = None,
    momentum_layers: o.MomentumLayers = None,
    momentum_ramp: o.MomentumRamp = None,
    convolution: o.Convolution = None,
    heads: o.Heads = None,
    content: o.Content = None,
    normaliser: o.Normaliser = None,
    kernel: o.Kernel = None,
    lr: o.Lr = None,
    warmup: o.Warmup = None,
    schedule: o.Schedule = None,
    recipe: Annotated[
        str | None,
        typer.Option(help="goat: linear decay, rate x0.75, warm-up x1.15.", rich_help_panel=o.LEARNING),
    ] = None,
    weight_decay: o.WeightDecay = None,
    clip: o.Clip = None,
    prior_lr_scale: o.PriorLrScale = None,
    reverse_complement: o.ReverseComplement = None,
    jitter: o.Jitter = None,
    score_n: Annotated[
        bool | None,
        typer.Option("--score-n", help="GOAT authors' protocol: N is a fifth class.", rich_help_panel=o.LEARNING),
    ] = None,
    eval_every: o.EvalEvery = None,
    eval_windows: o.EvalWindows = None,
    precision: o.Precision = None,
    device: o.Device = "auto",
    micro_batch: o.MicroBatch = None,
    parallel: o.Parallel = "auto",
    wait_for_peers: o.WaitForPeers = 300,
    compile_model: o.Compile = False,
    checkpoint_activations: o.CheckpointActivations = False,
    checkpoint_every: o.CheckpointEvery = None,
    keep: o.Keep = None,
) -> None:
    given = dict(locals())
    from dnagoat.attention.schemes.registry import DEFAULT
    from dnagoat.training.kept.event_log import log_steps
    from dnagoat.training.launch.parallel import Execution
    from dnagoat.training.launch.processes import place
    from dnagoat.training.launch.stop import stop_asked
    from dnagoat.training.loop import train as run
    from dnagoat.training.presets import NAME
    from dnagoat_cli.options.configuration import conclude, configuration, say
    from dnagoat_cli.terminal.plan import show_plan
    from dnagoat_cli.terminal.training import watch

    options = {**o.fields(given), **ctx.meta[GIVEN]}
    folder = out or Path("runs") / f"{options.get(NAME, DEFAULT)}-{preset or 'small'}"
    config, data = configuration(dataset, folder, preset, options, resume=resume, match=match_parameters)
    how = Execution(
        parallel=parallel,
        compile=compile_model,
        checkpoint_activations=checkpoint_activations,
        patience=wait_for_peers,
    )
    if plan:
        show_plan(config, device, how, as_json)
        return
    main = place()[0] == 0
    with stop_asked() as stop:
        steps_made = run(
            config, folder, resume=resume, force=force, device=device, how=how, dataset=data, stop=stop, say=say
        )
        watch(log_steps(steps_made, folder, log if main else None), folder.name, quiet=not main)
    if main:
        conclude(folder, as_json)
