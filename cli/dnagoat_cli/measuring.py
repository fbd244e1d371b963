"""What a report needs of each run, and how what is missing is computed: once, with one set of settings for all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dnagoat.errors import DatasetError, OptionError, RunError

if TYPE_CHECKING:
    from dnagoat.evaluation.registry import MeasureOptions
    from dnagoat.evaluation.registry import Progress as Report
    from dnagoat.reporting.results import Sources
    from dnagoat.training.kept.run import Run

Task = Callable[[str], "Report"]

# In the order in which they are computed: strata read what nll has scored.
WANTED = (
    ("nll", "val"), ("nll", "test"), ("strata", "test"), ("lengths", "test"), ("prior", "test"), ("generation", "test"),
)  # fmt: skip
# What somebody asked `evaluate` or `inspect` for is shown too, and never of an earlier checkpoint than the rest.
ASKED_FOR = (("rc", "test"), ("copying", "test"), ("protocol-paper", "val"), ("inspect", "test"))
LEAKAGE = "leakage"
STRETCHES = 16  # half of what `evaluate --what lengths` takes


def asked(
    found: Sources, *, windows: int | None, prompts: int | None, dataset: Path | None, device: str, batch_size: int
) -> MeasureOptions:
    """The options of missing measures; a comparison is described on the windows that it was judged on."""
    from dnagoat.evaluation.registry import MeasureOptions
    from dnagoat.evaluation.written.trajectory import TrajectoryOptions
    from dnagoat.training.launch.processes import pick_device

    return MeasureOptions(
        windows=windows or (found.comparison or {}).get("windows"),
        trajectory=TrajectoryOptions() if prompts is None else TrajectoryOptions(prompts=prompts),
        dataset=dataset,
        device=str(pick_device(device)),
        batch_size=batch_size,
    )


def measured(runs: Sequence[Run], options: MeasureOptions, skip: Sequence[str] = ()) -> None:
    """Computes what the report shows and a run does not have, and keeps it; stored results stay as they are."""
    known = {LEAKAGE, *(name for name, _ in (*WANTED, *ASKED_FOR))}
    for name in skip:
        if name not in known:
            raise OptionError(f"--skip {name}: choose from {', '.join(sorted(known))}")
    with bars() as task:
        for name, split in WANTED:
            if name not in skip:
                _measure(runs, name, _for(name, options).but(split=split), task)
        for name, split in ASKED_FOR:
            if name not in skip:
                _renew(runs, name, options.but(split=split), task)
    if LEAKAGE not in skip:
        _leakage(runs)


def _for(name: str, options: MeasureOptions) -> MeasureOptions:
    """Context lengths are scored on few stretches: each is as long as 16 windows, and attention over it is dear."""
    return options.but(windows=STRETCHES) if name == "lengths" else options


def _measure(runs: Sequence[Run], name: str, options: MeasureOptions, task: Task) -> None:
    """Gives every run the measure, with the settings of the first that has it already: numbers must be comparable."""
    from dnagoat.errors import WindowError
    from dnagoat.evaluation.registry import ensure, stored

    kept = [stored(run, name, options) for run in runs]
    settings = next((result["settings"] for result in kept if result is not None), None)
    if settings is None and name == "strata":
        settings = _settings_of_nll(runs, options)
    # A BED file is known by name and content alone, and belongs to the run that was asked about it.
    asked = options.but(**{name: value for name, value in (settings or {}).items() if name != "strata"})
    for run, result in zip(runs, kept, strict=True):
        if result is not None:
            continue
        try:
            ensure(run, name, asked, progress=task(_told(f"{run.name}: {name} {asked.split}")))
        except (WindowError, OptionError) as fault:  # no such split, a kernel that refuses the length: n/a
            Console(stderr=True).print(f"note: {fault}", highlight=False, soft_wrap=True)


def _renew(runs: Sequence[Run], name: str, options: MeasureOptions, task: Task) -> None:
    """Measures again, as it was measured, what has a result that is out of date."""
    from dnagoat.evaluation.registry import chosen, ensure, stored
    from dnagoat.files import read_json

    for run in filter(_has_weights, runs):
        path = chosen(name).path(run, options)
        if path.exists() and stored(run, name, options) is None:
            before = options.but(**read_json(path)["settings"])
            try:
                ensure(run, name, before, progress=task(_told(f"{run.name}: {name} {before.split}")))
            except (DatasetError, OptionError) as fault:  # the dataset has moved: what is there stays
                note = f"note: {path} is of an earlier checkpoint: {fault}"
                Console(stderr=True).print(note, highlight=False, soft_wrap=True)


def _told(label: str) -> str:
    """Minutes of measuring are not silent where no bar is drawn: a line for each measure on standard error."""
    console = Console(stderr=True)
    if not console.is_terminal:
        console.print(f"{label} ...", highlight=False, soft_wrap=True)
    return label


def _has_weights(run: Run) -> bool:
    """Whether there is a checkpoint; a run whose weights were thrown away may still be reported."""
    try:
        run.checkpoint("best")
    except RunError:
        return False
    return True


def _settings_of_nll(runs: Sequence[Run], options: MeasureOptions) -> dict[str, object] | None:
    """Strata divide the very bases that the likelihood is of."""
    from dnagoat.evaluation.registry import stored

    found = (stored(run, "nll", options) for run in runs)
    return next((result["settings"] for result in found if result is not None), None)


def _leakage(runs: Sequence[Run]) -> None:
    """The leak report of the runs' dataset, where the dataset is still there."""
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.genome.leaks.leakage import leakage
    from dnagoat_cli.passport import bases_bar

    for path in {run.config.dataset: None for run in runs}:
        if (Path(path) / "manifest.json").exists():
            try:
                with bases_bar() as bar:
                    leakage(open_dataset(Path(path)), progress=bar)
            except DatasetError as fault:
                Console(stderr=True).print(f"note: {fault}", highlight=False, soft_wrap=True)


@contextmanager
def bars() -> Iterator[Task]:
    """A maker of progress bars on standard error, one a measure; nothing is drawn where it is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[what]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as drawn:

        def task(label: str) -> Report:
            bar = drawn.add_task(label, total=None, what="")
            return lambda what, done, total: drawn.update(bar, completed=done, total=total, what=what)

        yield task
