"""`dnagoat compare`: several arms, several seeds, one verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options import runs as o
from dnagoat_cli.options.defaults import WithPresets
from dnagoat_cli.options.unfold import settings, unfold

if TYPE_CHECKING:
    from dnagoat.evaluation.comparison.experiment import Comparison
    from dnagoat.progress import Progress
    from dnagoat.training.launch.stop import Stop

EXAMPLES = """
Compare position schemes so that the verdict can be trusted.

Every arm of a seed sees the same bases and starts from the same values of shared weights.

The first arm is the reference; an interrupted comparison continues with the same command.

[bold]Arms[/bold]

  rope, rope+bias, alibi, nope, sinusoidal, t5, fire, goat, goat+rope; goat:spectral+sink for some parts alone.

  @form=authors @init=seeded @distances=1/2,1/- @free=0 @amplitude=0.5 @rank=4 @periods=3/171 @sink-width=32
  @rope-base=500 @memory @momentum=0.3 @convolution=4 @gate @heads=4 @content=59 @normaliser=entmax15
  @prior-lr-scale=3 @recipe=goat @optimizer=adamw @lr=1e-3 may follow; goat alone starts its heads
  at distances, goat@form=authors is GOAT as its authors' module computes it (as is goat under preset paper).
  NAME=ARM gives an arm a name of its own, which tables, figures and folders then have.

[bold]Examples[/bold]

  dnagoat compare data/demo --arm rope --arm goat --preset tiny --steps 300 --out runs/cmp

  dnagoat compare data/demo --arm goat --arm goat:recency --seeds 5 --jobs 2 --out runs/parts

  dnagoat compare data/demo --arm rope --arm "published GOAT=goat@init=seeded@rank=2" --out runs/named

  dnagoat compare data/demo --arm rope --arm goat@init=uniform --lr 3e-4,1e-3 --out runs/lr

  dnagoat compare data/demo --arm goat@rank=6 --arm goat@periods=3/60/1024/4096/16384/65536 --out runs/ladders

  dnagoat compare data/demo --arm rope --arm rope@optimizer=adamw --out runs/optimizers

  dnagoat compare data/demo --arm rope --arm goat --out runs/cmp --plan     [dim]what it would take[/dim]
"""


@app.command(help=EXAMPLES, cls=WithPresets)
@unfold
def compare(
    dataset: Annotated[Path, typer.Argument(help="Folder that `prepare` wrote.")],
    arm: Annotated[list[str], typer.Option(help="An arm, or NAME=ARM; repeat it, the reference first.")],
    out: Annotated[Path, typer.Option(help="Folder of the comparison: a run folder each, comparison.json.")],
    shared: o.Shared,
    seeds: Annotated[int, typer.Option(help="Runs of every arm; a verdict on a method needs 3.", min=1)] = 3,
    preset: o.Preset = None,
    windows: Annotated[int | None, typer.Option(help="Windows scored of each split, spread evenly.", min=1)] = None,
    reach: Annotated[
        str | None, typer.Option(help="Validation NLLs, as 1.28,1.26: how many bases did each arm take to get there?")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Runs trained side by side.", min=1)] = 1,
    threads: Annotated[int, typer.Option(help="CPU threads of each.", min=1)] = 1,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be trained, how long it takes and what is written.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every table: validation, strata, what it took.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print comparison.json, or the plan.")] = False,
    lr: Annotated[
        str | None, typer.Option(help="One rate, or several with commas: tuned per arm on validation.")
    ] = None,
    match_parameters: o.MatchParameters = False,
    device: o.Device = "auto",
) -> None:
    import shlex
    import sys

    from dnagoat.evaluation.comparison.arms import read_arms
    from dnagoat.evaluation.comparison.experiment import Comparison
    from dnagoat.evaluation.comparison.experiment import compare as run
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.training.presets import configure
    from dnagoat_cli.terminal.show import show_comparison

    data = open_dataset(dataset)
    base = configure(preset or "small", str(dataset), data.content_hash, data.window, settings(shared))
    rates = () if lr is None else o.numbers(lr, "--lr")
    asked = Comparison(data, base, read_arms(arm), out, seeds, rates, match_parameters)
    if plan:
        _plan(asked, jobs, threads, device, as_json)
        return
    with _continued(out, as_json) as (progress, stop):
        result = run(
            asked,
            windows=windows,
            reach=() if reach is None else o.numbers(reach, "--reach"),
            jobs=jobs,
            threads=threads,
            device=device,
            command=shlex.join(["dnagoat", *sys.argv[1:]]),
            stop=stop,
            progress=progress,
        )
    show_comparison(result, out, as_json, every=every)


@contextmanager
def _continued(out: Path, as_json: bool) -> Iterator[tuple[Progress, Stop]]:
    """A bar, and the signals that stop a comparison: how it goes on is said."""
    from dnagoat.errors import Stopped
    from dnagoat.training.launch.stop import stop_asked
    from dnagoat_cli.terminal.bar import show_progress

    try:
        with show_progress(quiet=as_json) as progress, stop_asked() as stop:
            yield progress, stop
    except Stopped as end:
        typer.echo(f"{end.signal.name}: every run is saved; the same command continues {out}", err=True)
        raise


def _plan(comparison: Comparison, jobs: int, threads: int, device: str, as_json: bool) -> None:
    from dnagoat.evaluation.comparison.forecast import foresee
    from dnagoat.training.launch.processes import pick_device
    from dnagoat_cli.terminal.bar import show_progress
    from dnagoat_cli.terminal.show import show_forecast

    with show_progress(quiet=as_json) as progress:
        forecast = foresee(comparison, jobs=jobs, threads=threads, device=pick_device(device), progress=progress)
    show_forecast(comparison, forecast, as_json)
