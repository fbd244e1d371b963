"""`dnagoat probe`: small experiments, each of which tests one claim about attention priors."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options import probes as o
from dnagoat_cli.options.defaults import NamesPresets
from dnagoat_cli.options.unfold import unfold

if TYPE_CHECKING:
    from dnagoat.progress import Progress

probe = typer.Typer(
    no_args_is_help=True,
    help="Test one claim with small models: retrieval, induction, extrapolation, attention sinks. Each writes a folder "
    "that `dnagoat report` shows.",
)
app.add_typer(probe, name="probe")

TaskName = Literal["passkey", "needle"]

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
    @unfold
    def command(sizes: o.Recall, result: o.Result, jobs: o.Jobs = 1) -> None:
        from dnagoat.evaluation.probes.recall import recall
        from dnagoat.evaluation.probes.sweep import Sweep

        options = sizes.options(task)
        sweep = partial(Sweep, jobs=jobs, force=result.force, device=result.device)
        _carry_out(task, result, lambda out, device, tell: recall(options, device, tell, sweep(out)))

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
@unfold
def induction(sizes: o.Induction, result: o.Result, jobs: o.Jobs = 1) -> None:
    from dnagoat.evaluation.probes.induction import induction as run
    from dnagoat.evaluation.probes.sweep import Sweep

    options = sizes.options()
    sweep = partial(Sweep, jobs=jobs, force=result.force, device=result.device)
    _carry_out("induction", result, lambda out, device, tell: run(options, device, tell, sweep(out)))


EXTRAPOLATE = """
Train arms on DNA, then score the same bases with 1 to 16 times the context of training.

[bold]Examples[/bold]

  dnagoat probe extrapolate data/demo --arm rope --arm goat --arm alibi --seeds 2 --steps 600

  dnagoat probe extrapolate data/demo --out probes/far       [dim]again: goes on where it was interrupted[/dim]
"""


@probe.command(help=EXTRAPOLATE, cls=NamesPresets)
@unfold
def extrapolate(
    dataset: Annotated[Path, typer.Argument(help="Folder that `prepare` wrote.")],
    sizes: o.Extrapolate,
    result: o.Result,
) -> None:
    from dnagoat.evaluation.probes.extrapolate import extrapolate as run
    from dnagoat.genome.dataset import open_dataset

    data, options = open_dataset(dataset), sizes.options()
    _carry_out("extrapolate", result, lambda out, device, tell: run(data, options, out, device, tell))


SINK = """
Where does attention go when content is weak? The first symbol's lead in trained runs, split in content and prior.

[bold]Example[/bold]

  dnagoat probe sink runs/rope runs/goat --windows 16
"""


@probe.command(help=SINK)
@unfold
def sink(
    runs: Annotated[list[Path], typer.Argument(help="Folders that `train` wrote.")],
    asked: o.Sink,
    result: o.Result,
) -> None:
    from dnagoat.evaluation.comparison.labels import labels
    from dnagoat.evaluation.probes.sinks import sinks
    from dnagoat.training.kept.run import open_run

    opened = [open_run(path) for path in runs]
    named = list(zip(labels([run.config for run in opened]), opened, strict=True))
    _carry_out("sink", result, lambda _, device, tell: sinks(named, asked.options(device), tell))


LINEAR = """
Do embeddings know more than k-mers? Logistic regression on embeddings of runs, and on counts of 4-mers and 6-mers.

Examples lie in the validation and the test split of the runs' dataset: regions of a BED file whose column says the
class, or (softmask) tiles that are soft-masked against tiles that are not. Regions that the model was trained on are
left out: `dnagoat inspect DATASET --splits FILE` writes where the held-out splits lie. See docs/embeddings.md.

[bold]Examples[/bold]

  dnagoat probe linear runs/goat --regions softmask

  dnagoat probe linear runs/goat runs/rope --regions classes.bed --positive enhancer --by block
"""


@probe.command(help=LINEAR)
@unfold
def linear(
    runs: Annotated[list[Path], typer.Argument(help="Folders that `train` wrote, of one dataset.")],
    regions: Annotated[str, typer.Option(help="BED file with a column of classes, or softmask.")],
    asked: o.Linear,
    result: o.Result,
) -> None:
    from dnagoat.evaluation.comparison.labels import labels
    from dnagoat.evaluation.probes.linear.regression import name_arms, probe_linear, require_sklearn
    from dnagoat.training.kept.run import open_run
    from dnagoat_cli.terminal.bar import say

    require_sklearn()
    opened = [open_run(path) for path in runs]
    named = name_arms(labels([run.config for run in opened]), opened)
    classes, options, dataset = asked.classes(regions), asked.options(), opened[0].dataset(asked.dataset)
    _carry_out(
        "linear",
        result,
        lambda _, device, tell: probe_linear(named, dataset, classes, options.but(device=device), tell, say),
    )


def _carry_out(name: str, result: o.Result, work: Callable[[Path, str, Progress], dict[str, Any]]) -> None:
    """Runs a probe under a bar, writes its folder and shows what it found."""
    import dnagoat
    from dnagoat.reporting.sections.probes import kinds as probes
    from dnagoat.training.launch.processes import pick_device
    from dnagoat_cli.terminal.bar import show_progress
    from dnagoat_cli.terminal.show import show_probe

    out = result.out or Path("probes") / name
    with probes.new_result(out, force=result.force):
        with show_progress() as progress:
            found = work(out, str(pick_device(result.device)), progress)
        signed = {
            "format": 1,
            **found,
            "tool_version": dnagoat.__version__,
            "command": shlex.join(["dnagoat", *sys.argv[1:]]),
        }
        probes.write(signed, out)
    show_probe(signed, out, result.as_json)
