"""What a report needs of each run, and how what is missing is computed: once, with one set of settings for all runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dnagoat.errors import DatasetError, OptionError, RunError, WindowError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.results import ensure, find_measure, read_result
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.files import read_json
from dnagoat.genome.dataset import open_dataset
from dnagoat.genome.leaks.leakage import kept_leakage, leakage, require_room
from dnagoat.progress import Progress, Stage, relabelled, silent
from dnagoat.reporting.contents import may_be_shown, needed
from dnagoat.reporting.sources import Sources
from dnagoat.training.kept.run import Run
from dnagoat.training.launch.processes import pick_device

Say = Callable[[str], None]

LEAKAGE = "leakage"
STRETCHES = 16  # half of what `evaluate --what lengths` takes


def options_for(
    found: Sources,
    *,
    windows: int | None = None,
    prompts: int | None = None,
    dataset: Path | None = None,
    device: str = "auto",
    batch_size: int | None = None,
) -> MeasureOptions:
    """The options of missing measures; a comparison is described on the windows that it was judged on."""
    return MeasureOptions(
        windows=windows or (found.comparison or {}).get("windows"),
        trajectory=TrajectoryOptions() if prompts is None else TrajectoryOptions(prompts=prompts),
        dataset=dataset,
        device=str(pick_device(device)),
        batch_size=batch_size,
    )


def measure_missing(
    runs: Sequence[Run],
    options: MeasureOptions,
    skip: Sequence[str] = (),
    *,
    results: Path | None = None,
    progress: Progress = silent,
    say: Say = lambda _: None,
) -> None:
    """Computes what the report shows and a run does not have, and keeps it; stored results stay as they are.

    Where it cannot be kept is said before the first of it is computed; `results` takes the dataset's leak report then,
    as it takes the results of runs that were opened with it.

    `skip` names measures (and `leakage`) that are left out; an `OptionError` lists those there are. `say` hears why
    something could not be measured: it is missing in the report then.
    """
    known = {LEAKAGE, *(need.measure for need in (*needed(), *may_be_shown()))}
    for name in skip:
        if name not in known:
            raise OptionError(f"--skip {name}: choose from {', '.join(sorted(known))}")
    work = Measuring(runs, options, results, progress, say)
    work.require_room(skip)
    for need in needed():
        if need.measure not in skip:
            work.complete(need.measure, need.split)
    for need in may_be_shown():  # never of an earlier checkpoint than the rest
        if need.measure not in skip:
            work.renew(need.measure, need.split)
    if LEAKAGE not in skip:
        work.find_leaks()


@dataclass(frozen=True)
class Measuring:
    """Runs of one report, measured with the same settings."""

    runs: Sequence[Run]
    options: MeasureOptions
    results: Path | None
    progress: Progress
    say: Say

    def require_room(self, skip: Sequence[str]) -> None:
        """A `RunError` or `DatasetError` where something is missing that could not be kept."""
        lacking = [need for need in needed() if need.measure not in skip]
        wanted = [(need.measure, self.options.but(split=need.split)) for need in lacking]
        for run in self.runs:
            if any(
                find_measure(name).applies(run) and read_result(run, name, options) is None for name, options in wanted
            ):
                run.require_room()
        for path, content in () if LEAKAGE in skip else self._datasets():
            if kept_leakage(path, content, self.results) is None:
                require_room(path, content, self.results)

    def _datasets(self) -> list[tuple[Path, str]]:
        """The folders of the runs' datasets that are still there, each once, with the hash of their content."""
        found = [(run.dataset_path(self.options.dataset), run.config.dataset_hash) for run in self.runs]
        there = {path.resolve(): (path, content) for path, content in found if path is not None}
        return list(there.values())

    def complete(self, name: str, split: str) -> None:
        """Gives every run the measure, with the settings of the first that has it: numbers must be comparable."""
        options = self.options.but(split=split)
        if name == "lengths":  # each stretch is as long as 16 windows, and attention over it is dear
            options = options.but(windows=STRETCHES)
        kept = [read_result(run, name, options) for run in self.runs]
        settings = next((result["settings"] for result in kept if result is not None), None)
        if settings is None and name == "strata":  # strata divide the very bases that the likelihood is of
            scored = (read_result(run, "nll", options) for run in self.runs)
            settings = next((result["settings"] for result in scored if result is not None), None)
        # A BED file is known by name and content alone, and belongs to the run that was asked about it.
        asked = options.but(**{key: value for key, value in (settings or {}).items() if key != "strata"})
        for run, result in zip(self.runs, kept, strict=True):
            if result is None and find_measure(name).applies(run):
                try:
                    self._measure(run, name, asked)
                except (WindowError, OptionError) as fault:  # no such split, a kernel that refuses the length: n/a
                    self.say(str(fault))

    def renew(self, name: str, split: str) -> None:
        """Measures again, as it was measured, what has a result that is out of date."""
        options = self.options.but(split=split)
        for run in filter(_has_weights, self.runs):
            path = find_measure(name).path(run, options)
            if path.exists() and read_result(run, name, options) is None:
                try:
                    self._measure(run, name, options.but(**read_json(path)["settings"]))
                except (DatasetError, OptionError) as fault:  # the dataset has moved: what is there stays
                    self.say(f"{path} is of an earlier checkpoint: {fault}")

    def _measure(self, run: Run, name: str, options: MeasureOptions) -> None:
        ensure(run, name, options, progress=relabelled(self.progress, f"{run.name}, {name}, {options.split}"))

    def find_leaks(self) -> None:
        """The leak report of the runs' dataset, where the dataset is still there."""
        for path, _ in self._datasets():
            try:
                leakage(open_dataset(path), results=self.results, progress=self._leaks)
            except DatasetError as fault:
                self.say(str(fault))

    def _leaks(self, at: Stage) -> None:
        self.progress(f"leaks: {at.stage}", at.done, round(at.done / at.share) if at.share else 0)


def _has_weights(run: Run) -> bool:
    """Whether there is a checkpoint; a run whose weights were thrown away may still be reported."""
    try:
        run.checkpoint("best")
    except RunError:
        return False
    return True
