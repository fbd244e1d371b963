"""`dnagoat probe`: small experiments, each of which tests one claim about attention priors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from dnagoat_cli.main import app

probe = typer.Typer(
    no_args_is_help=True,
    help="Test one claim with small models: retrieval, induction, extrapolation, attention sinks. Each writes a folder "
    "that `dnagoat report` shows.",
)
app.add_typer(probe, name="probe")

TaskName = Literal["passkey", "needle"]
TRAINING = "How the small models learn"
Preset = Annotated[str, typer.Option(help="tiny (minutes on a CPU) or paper (a GPU).")]
Arms = Annotated[
    list[str] | None,
    typer.Option("--arm", help="As in compare: rope, goat:spectral+sink, alibi@momentum=0.5; repeatable."),
]
Seeds = Annotated[int | None, typer.Option(help="Models of each arm.")]
Out = Annotated[Path | None, typer.Option(help="Folder to write; probes/NAME by default.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a result that is there.")]
Jobs = Annotated[int, typer.Option(help="Models trained side by side, each on one CPU thread.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Steps = Annotated[int | None, typer.Option(help="Optimizer steps.", rich_help_panel=TRAINING)]
BatchSize = Annotated[int | None, typer.Option(help="Sequences in a batch.", rich_help_panel=TRAINING)]
Lr = Annotated[float | None, typer.Option(help="Peak learning rate.", rich_help_panel=TRAINING)]
Warmup = Annotated[int | None, typer.Option(help="Steps of linear warm-up.", rich_help_panel=TRAINING)]
PriorLrScale = Annotated[
    float | None, typer.Option(help="Rate of position parameters over the others'.", rich_help_panel=TRAINING)
]
Layers = Annotated[int | None, typer.Option(help="Layers.", rich_help_panel=TRAINING)]
Width = Annotated[int | None, typer.Option(help="Width of the model.", rich_help_panel=TRAINING)]
Length = Annotated[int | None, typer.Option(help="Bases of a training sequence.")]
Times = Annotated[str | None, typer.Option(help="Tested at these multiples of the length, as 1,2,4,8,16.")]
Depths = Annotated[int | None, typer.Option(help="Places of the key, from the start to the question.")]
Trials = Annotated[int | None, typer.Option(help="Test sequences for each cell and seed.")]
Key = Annotated[int | None, typer.Option(help="Bases of the key.")]
Marker = Annotated[int | None, typer.Option(help="Bases of the marker before it.")]

RECALL = """
Hide a key behind a marker, ask for it at the end: who still finds it far past the training length?

An interrupted probe continues with the same command.

[bold]Examples[/bold]

  dnagoat probe {name} --arm rope --arm goat --arm alibi --seeds 3 --jobs 2

  dnagoat probe {name} --preset paper --device cuda
"""


FILLER = {
    "passkey": "The filler is one short repeat, so that the key is the only news.",
    "needle": "The filler is random: only the marker tells the key from the rest.",
}


def _recall(task: TaskName) -> Callable[..., None]:
    def command(
        preset: Preset = "tiny",
        arm: Arms = None,
        seeds: Seeds = None,
        length: Length = None,
        times: Times = None,
        depths: Depths = None,
        trials: Trials = None,
        key: Key = None,
        marker: Marker = None,
        layers: Layers = None,
        width: Width = None,
        steps: Steps = None,
        batch_size: BatchSize = None,
        lr: Lr = None,
        warmup: Warmup = None,
        prior_lr_scale: PriorLrScale = None,
        out: Out = None,
        device: Device = "auto",
        jobs: Jobs = 1,
        force: Force = False,
        as_json: AsJson = False,
    ) -> None:
        from dnagoat_cli.terminal.probes import recalled

        recalled(task, dict(locals()))

    return command


for _task in get_args(TaskName):
    _help = f"{RECALL.format(name=_task)}\n{FILLER[_task]}"
    probe.command(_task, help=_help, short_help=f"Recall a key far past the training length. {FILLER[_task]}")(
        _recall(_task)
    )


INDUCTION = """
A stretch of random symbols comes back: does one layer with momentum predict it, which takes two without?

An interrupted probe continues with the same command.

[bold]Examples[/bold]

  dnagoat probe induction                                    [dim]g from 0 to 2, before and after the rotation[/dim]

  dnagoat probe induction --depth 1,2,4,8 --strengths 0.05,0.1,0.2,0.5,1 --placement after

  dnagoat probe induction --recipe none,momentum             [dim]learning rate / 3, warm-up x 1.3[/dim]
"""


@probe.command(help=INDUCTION)
def induction(
    preset: Preset = "tiny",
    position: Annotated[
        str, typer.Option(help="Scheme that carries the momentum, as an arm: rope, nope, rope@rope-base=500, ...")
    ] = "rope",
    strengths: Annotated[str | None, typer.Option(help="Strengths g, as 0,0.5,1,2.")] = None,
    placement: Annotated[str | None, typer.Option(help="The shear after or before the rotation: after,before.")] = None,
    depth: Annotated[str | None, typer.Option(help="Numbers of layers, as 1,2,4.")] = None,
    recipe: Annotated[str | None, typer.Option(help="none, momentum or both, as none,momentum.")] = None,
    vocabulary: Annotated[int | None, typer.Option(help="How many symbols there are.")] = None,
    length: Annotated[int | None, typer.Option(help="Symbols of a sequence.")] = None,
    stretch: Annotated[int | None, typer.Option(help="Symbols that come back.")] = None,
    seeds: Seeds = None,
    trials: Annotated[int | None, typer.Option(help="Test sequences of each model.")] = None,
    width: Width = None,
    steps: Steps = None,
    batch_size: BatchSize = None,
    lr: Lr = None,
    warmup: Warmup = None,
    out: Out = None,
    device: Device = "auto",
    jobs: Jobs = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    from dnagoat_cli.terminal.probes import induced

    induced(dict(locals()))


EXTRAPOLATE = """
Train arms on DNA, then score the same bases with 1 to 16 times the context of training.

[bold]Examples[/bold]

  dnagoat probe extrapolate data/demo --arm rope --arm goat --arm alibi --seeds 2 --steps 600

  dnagoat probe extrapolate data/demo --out probes/far       [dim]again: goes on where it was interrupted[/dim]
"""


@probe.command(help=EXTRAPOLATE)
def extrapolate(
    dataset: Annotated[Path, typer.Argument(help="Folder that `prepare` wrote.")],
    preset: Annotated[str, typer.Option(help="tiny, small, paper or 125m.")] = "tiny",
    arm: Arms = None,
    seeds: Seeds = None,
    lengths: Annotated[str | None, typer.Option(help="As 1x,4x,16x, or in bases.")] = None,
    windows: Annotated[int | None, typer.Option(help="Stretches scored at each length.")] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "test",
    steps: Steps = None,
    batch_size: BatchSize = None,
    lr: Lr = None,
    warmup: Warmup = None,
    prior_lr_scale: PriorLrScale = None,
    precision: Annotated[str | None, typer.Option(help="fp32, tf32, bf16 or fp16.", rich_help_panel=TRAINING)] = None,
    micro_batch: Annotated[
        int | None, typer.Option(help="Windows at once; gradients add up.", rich_help_panel=TRAINING)
    ] = None,
    out: Out = None,
    device: Device = "auto",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    from dnagoat_cli.terminal.probes import extrapolated

    extrapolated(dict(locals()))


SINK = """
Where does attention go when content is weak? The first symbol's lead in trained runs, split in content and prior.

[bold]Example[/bold]

  dnagoat probe sink runs/rope runs/goat --windows 16
"""


@probe.command(help=SINK)
def sink(
    runs: Annotated[list[Path], typer.Argument(help="Folders that `train` wrote.")],
    windows: Annotated[int | None, typer.Option(help="Windows looked at, real and random; 16 by default.")] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "test",
    seed: Annotated[int, typer.Option(help="Of random windows and resamples.")] = 0,
    dataset: Annotated[Path | None, typer.Option(help="The runs' dataset, where it has moved.")] = None,
    checkpoint: Annotated[str, typer.Option(help="best (on validation) or last.")] = "best",
    out: Out = None,
    device: Device = "auto",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    from dnagoat_cli.terminal.probes import sunk

    sunk(dict(locals()))
