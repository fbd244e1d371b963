"""What the demo does, stage by stage; a stage that is done already is left as it is."""

from __future__ import annotations

import shlex
import shutil
import sys
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from dnagoat.attention.schemes.registry import USUAL
from dnagoat.errors import DatasetError, RunError, Stopped
from dnagoat.wording import counted
from dnagoat_cli.terminal.prose import print_prose

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.genome.dataset import Dataset
    from dnagoat.training.kept.run import Run

ARMS = (*USUAL, "goat@memory")

# Sized for a few minutes on two quiet cores.
STEPS = 140
BATCH = 4  # windows of 1,024 bases
SCORED = 256  # windows of each split that are scored
LENGTHS = ("1x", "2x", "4x")
PARTS = 32  # windows on which memory is taken apart: that costs four times what scoring does
PROMPTS, SAMPLES, LENGTH = 40, 4, 256

REMARK = (
    "What so short a training can show: that every part works, and how the models begin, not which method is better. "
    "Each has read {bases} bases. On chromosome 21, after 1.2 million bases of chromosome 20, a model of a million "
    "weights is at 1.31 nats per base with RoPE and at 1.27 with GOAT, and an order-11 Markov table counted on "
    "60 million bases is at 1.254."
)


@dataclass(frozen=True)
class Places:
    """Where everything goes and how long training lasts."""

    data: Path
    runs: Path
    report: Path
    steps: int

    @property
    def page(self) -> Path:
        from dnagoat.reporting.document import PAGE

        return self.report / PAGE


def plan(folder: Path, steps: int | None) -> Places:
    return Places(folder / "data" / "demo", folder / "runs" / "demo", folder / "reports" / "demo", steps or STEPS)


def say(text: str) -> None:
    print_prose(text, Console(stderr=True))


@contextmanager
def own_advice() -> Iterator[None]:
    """Where a stage's sentence says `another --out`, the demo's option is --folder."""
    try:
        yield
    except (DatasetError, RunError) as fault:
        raise type(fault)(str(fault).replace("another --out", "another --folder")) from None


def prepare_dataset(plan: Places, force: bool) -> Dataset:
    """The demo's dataset, prepared where it is not there yet."""
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.genome.preparation import PrepareOptions, prepare
    from dnagoat_cli.terminal.bar import show_stages
    from dnagoat_cli.terminal.datasets import show_dataset

    options = PrepareOptions(force=force)
    if plan.data.exists() and not force:
        dataset = open_dataset(plan.data)
        if [one.assembly for one in dataset.manifest.sources] != ["demo"] or dataset.window != options.window:
            raise DatasetError(
                f"{plan.data} holds another dataset than `dnagoat prepare demo` writes; "
                "move it away, or give another --folder"
            )
        say(f"[bold]1 of 4[/bold]  {plan.data} is prepared")
        return dataset
    say("[bold]1 of 4[/bold]  three loci of human chromosome 21 become a dataset")
    with show_stages() as bar:
        dataset = prepare("demo", plan.data, options, bar)
    show_dataset(dataset)
    return dataset


def configuration(plan: Places, dataset: Dataset, arm: str) -> RunConfig:
    """The same data order and the same initial values of shared weights for every arm: they follow from the seed."""
    from dnagoat.evaluation.comparison import arms
    from dnagoat.training.presets import configure

    options = {
        **arms.options(arm),
        "train.steps": plan.steps,
        "train.batch_size": BATCH,
        "train.eval_every": max(1, plan.steps // 5),
        "train.checkpoint_every": max(1, plan.steps // 5),
        "train.eval_windows": 32,
        "train.seed": 0,
    }
    return configure("tiny", str(plan.data), dataset.content_hash, dataset.window, options)


def train_arm(plan: Places, dataset: Dataset, arm: str, force: bool) -> Run:
    """A trained run, continued from where it stands; a Ctrl-C saves it and ends the demo."""
    from dnagoat.training.kept.run import open_run
    from dnagoat.training.launch.stop import stop_asked
    from dnagoat.training.loop import train
    from dnagoat_cli.terminal.bar import watch

    out = plan.runs / arm
    config = configuration(plan, dataset, arm)
    say(f"[bold]2 of 4[/bold]  {arm}: {counted(plan.steps, 'step')} of {counted(BATCH, 'window')} into {out}")
    with stop_asked() as stop:
        try:
            watch(train(config, out, resume=not force, force=force, dataset=dataset, stop=stop, say=say), arm)
        except RunError as fault:
            raise RunError(f"{fault}; --force begins the demo again, another --folder keeps this one") from None
        except Stopped:
            say("stopped; `dnagoat demo` continues here")
            raise
    return open_run(out)


def write_samples(runs: Sequence[Run]) -> None:
    """A FASTA of test prompts continued by each model."""
    from dnagoat.generation.prompts import from_split
    from dnagoat.generation.sampling import SamplingOptions
    from dnagoat_cli.options.prompting import Files
    from dnagoat_cli.options.weights import load_model
    from dnagoat_cli.terminal.continuations import continue_prompts

    say("[bold]3 of 4[/bold]  each model continues four real sequences of the test locus")
    for run in runs:
        out = run.path / "generated" / "demo.fa"
        if out.exists():
            continue
        prompts = from_split(run.dataset(), "test", 4, 512, seed=0)
        options = SamplingOptions(seed=0)
        finished = continue_prompts(load_model(run, "best", "auto"), prompts, options, LENGTH, batch_size=4)
        finished.conclude(len(prompts))
        Files(out).write(prompts, finished.sequences, options)
        say(f"        {out}")


def measures() -> MeasureOptions:
    """Smaller than the defaults of `dnagoat evaluate`, and said so in the report's methods."""
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.written.trajectory import TrajectoryOptions

    return MeasureOptions(
        windows=SCORED,
        lengths=LENGTHS,
        trajectory=TrajectoryOptions(prompts=PROMPTS, samples=SAMPLES, length=LENGTH),
    )


def write_report(plan: Places, runs: Sequence[Run], force: bool) -> str:
    """Measures, report and the comparison in the terminal, and returns the verdict; an existing report of these very
    runs stays."""
    from dnagoat.evaluation.results import ensure
    from dnagoat.reporting.document import report
    from dnagoat.reporting.missing import measure_missing
    from dnagoat.reporting.sources import read
    from dnagoat_cli.terminal.bar import say as note
    from dnagoat_cli.terminal.bar import show_progress
    from dnagoat_cli.terminal.show import show_report

    say("[bold]4 of 4[/bold]  scoring, and the report")
    paths = [run.path for run in runs]
    command = shlex.join(["dnagoat", "report", *map(str, paths), "--out", str(plan.report)])
    with show_progress() as progress:
        for run in runs:
            if run.config.model.memory:
                ensure(run, "memory", measures().but(windows=PARTS), progress=progress)
        measure_missing(runs, measures(), progress=progress, say=note)
        progress("drawing the report", 0, 0)
        remark = REMARK.format(bases=f"{runs[0].metrics()[-1]['bases']:,}")
        made = report(read(paths), command, remarks=[remark])
    if plan.page.exists() and not force:
        if not made.of_same_runs(plan.report):
            raise RunError(f"{plan.report} holds the report of other runs; move it away, or give --force")
        say("the demo is complete; --force begins again")
        page = plan.page
    else:
        with show_progress("drawing the report"):
            page = made.write(plan.report, force=force)
    show_report(made, page)
    return made.verdict.headline


def next_commands(plan: Places) -> list[str]:
    """What a person would try next, as it is typed here."""
    goat, arms = plan.runs / USUAL[-1], [word for arm in USUAL for word in ("--arm", arm)]
    compare = ["compare", plan.data, *arms, "--preset", "tiny", "--steps", plan.steps, "--out", plan.runs / "compare"]
    tries: list[list[object]] = [
        ["generate", goat, "--prompt", "TATAAAAGGC", "--length", 200],
        ["inspect", goat],
        [*compare, "--plan"],  # three seeds an arm are what a verdict needs, and take a while
    ]
    return [f"{program()} {shlex.join(map(str, words))}" for words in tries]


def program() -> str:
    """How this very program is called from here: by its name where that finds it, else by its place."""
    here, found = Path(sys.argv[0]), shutil.which("dnagoat")
    if found is not None and (here.name != "dnagoat" or Path(found).resolve() == here.resolve()):
        return "dnagoat"
    return shlex.quote(str(here)) if here.name == "dnagoat" else f"{shlex.quote(sys.executable)} -m dnagoat_cli"


def farewell(plan: Places, seconds: float, verdict: str) -> None:
    """The last lines: what was found, what to try next, the page."""
    out = Console(highlight=False)
    out.print()
    out.print(Text(verdict, style="bold"), overflow="fold")
    out.print(f"\nThree commands to try next ({int(seconds) // 60} min {int(seconds) % 60} s so far):")
    for command in next_commands(plan):
        out.print(f"  {command}", markup=False, soft_wrap=True)
    out.print(f"\nThe page: {plan.page}", markup=False, soft_wrap=True)


def open_page(plan: Places) -> None:
    """Shows the page in a browser, where there is one."""
    if not webbrowser.open(plan.page.resolve().as_uri()):
        say("There is no browser on this machine: copy the page to one that has.")
