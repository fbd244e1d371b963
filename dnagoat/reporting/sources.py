"""What a report is made from: result files of runs, comparisons, probes, benchmarks, datasets; read, never computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from dnagoat.config import RunConfig
from dnagoat.errors import RunError
from dnagoat.evaluation.comparison.arms import COMPARISON
from dnagoat.evaluation.comparison.labels import labels
from dnagoat.evaluation.measure import format_of
from dnagoat.files import read_json
from dnagoat.genome.dataset import DATASET_FORMATS
from dnagoat.genome.leaks.leakage import report_files
from dnagoat.genome.store.folder import MANIFEST
from dnagoat.reporting.sections.probes.kinds import FILE as PROBE
from dnagoat.reporting.sections.probes.kinds import read_probes
from dnagoat.streams import is_stream
from dnagoat.training.kept.run import SUMMARY, Run, open_run

Result = dict[str, Any]


@dataclass(frozen=True)
class RunResults:
    """One run as a report sees it; `measures` maps the stem of evaluation/STEM.json to its content."""

    run: Run
    arm: str
    slug: str  # the run's name, made unique: part of file names
    metrics: list[Result]
    summary: Result  # of the whole training, empty before its end
    measures: dict[str, Result]

    @property
    def key(self) -> str:
        return str(self.run.path)

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def seed(self) -> int:
        return self.config.train.seed

    def nll(self, split: str) -> Result | None:
        return self.measures.get(f"nll-{split}")

    @property
    def parameters(self) -> int | None:
        """How many weights the model has, as its trainer counted them; None before training has ended."""
        parameters = self.summary.get("parameters")
        return int(parameters["all"]) if parameters else None

    @property
    def speed(self) -> float | None:
        """Median bases per second over the steps of training."""
        speeds = [row["tokens_per_second"] for row in self.metrics if row.get("tokens_per_second")]
        return median(speeds) if speeds else None

    def peak(self, key: str) -> int | None:
        """The largest value of a metric, or None where it was never known."""
        return max((row[key] for row in self.metrics if row.get(key) is not None), default=None)

    @property
    def gc(self) -> Result:
        """`r` of GC % along all windows of generated DNA, and its `interval`; empty where nothing was generated."""
        return self.measures.get("generation", {}).get("gc", {}).get("pooled") or {}

    def last(self, key: str) -> Any:
        """The newest value of a metric that is not null, or None."""
        return next((row[key] for row in reversed(self.metrics) if row.get(key) is not None), None)


@dataclass(frozen=True)
class Results:
    """Everything that one report shows."""

    runs: list[RunResults] = field(default_factory=list)
    comparison: Result | None = None
    probes: list[Result] = field(default_factory=list)
    probe_folders: list[str] = field(default_factory=list)  # by as few last names as tell them apart
    bench: list[Result] = field(default_factory=list)  # one content of `bench --out` each
    leakage: Result | None = None
    manifests: list[Result] = field(default_factory=list)  # of the datasets that are still there

    @property
    def arms(self) -> dict[str, str]:
        """The position scheme of each arm, in the order of the runs."""
        return {run.arm: run.config.model.position.name for run in self.runs}

    @property
    def scored(self) -> list[RunResults]:
        """The runs with a likelihood; all of them where none has one."""
        return [run for run in self.runs if run.nll("test") or run.nll("val")] or self.runs

    @property
    def firsts(self) -> list[RunResults]:
        """One run an arm: what is shown where seeds would only repeat it."""
        return [next(run for run in self.runs if run.arm == arm) for arm in self.arms]

    def having(self, stem: str) -> list[tuple[RunResults, Result]]:
        """The scored runs that have a measure, each with it."""
        return [(run, run.measures[stem]) for run in self.scored if stem in run.measures]

    def firsts_having(self, stem: str) -> list[tuple[RunResults, Result]]:
        """One run an arm that has a measure, each with it."""
        return [(run, run.measures[stem]) for run in self.firsts if stem in run.measures]

    def named_probes(self) -> Iterator[tuple[Result, str]]:
        """Each probe with the folder that tells it from others of its kind; empty where it is the only one."""
        kinds = [probe["probe"] for probe in self.probes]
        for probe, folder in zip(self.probes, self.probe_folders, strict=True):
            yield probe, folder if kinds.count(probe["probe"]) > 1 else ""

    def of(self, arm: str) -> list[RunResults]:
        return [run for run in self.runs if run.arm == arm]


@dataclass(frozen=True)
class Sources:
    """What a report was asked to show, told apart: run folders with the arms' names where a comparison gives them."""

    runs: dict[Path, str | None]
    comparison: Result | None
    probes: list[Path]

    def open_runs(self, results: Path | None = None) -> list[Run]:
        """The runs that a report measures: all, or of a comparison, which has judged its seeds, one an arm."""
        firsts = {arm or str(path): path for path, arm in reversed(self.runs.items())}
        return [open_run(path, results) for path in reversed(firsts.values())]


def sources(paths: Sequence[Path]) -> Sources:
    """Sorts folders into runs, one comparison and probes; a `RunError` where there are two comparisons."""
    comparisons = [path for path in paths if (path / COMPARISON).exists()]
    probes = [path for path in paths if (path / PROBE).exists()]
    runs: dict[Path, str | None] = {path: None for path in paths if path not in [*comparisons, *probes]}
    if len(comparisons) > 1 or (comparisons and runs):
        raise RunError(f"{comparisons[0]} is a whole comparison; give it a report of its own")
    comparison = _read(comparisons[0] / COMPARISON) if comparisons else None
    for arm in (comparison or {}).get("arms", []):
        runs |= {comparisons[0] / Path(run).name: arm["name"] for run in arm["runs"]}
    return Sources(runs, comparison, probes)


def read(
    paths: Sequence[Path],
    *,
    bench: Sequence[Path] = (),
    results: Path | None = None,
    dataset: Path | None = None,
) -> Results:
    """Reads everything that lies in these folders and files; a `RunError` says which cannot be read.

    `results` is where results of runs lie that cannot be written, `dataset` where the runs' dataset lies now.
    """
    found = sources(paths)
    runs = read_runs(list(found.runs), list(found.runs.values()), results)
    return Results(
        runs,
        found.comparison,
        read_probes(found.probes),
        _told_apart(found.probes),
        [_bench(file) for file in bench],
        _leakage(runs, results, dataset),
        _manifests(runs, dataset),
    )


def read_runs(paths: Sequence[Path], arms: Sequence[str | None] = (), results: Path | None = None) -> list[RunResults]:
    """The runs at these paths, in this order, under the arms' names or labels of their own."""
    runs = [open_run(path, results) for path in paths]
    own = labels([run.config for run in runs])
    named = [given or label for given, label in zip(arms or [None] * len(runs), own, strict=True)]
    return [
        RunResults(run, arm, slug, run.metrics(), _summary(run), _measures(run))
        for run, arm, slug in zip(runs, named, _slugs([run.name for run in runs]), strict=True)
    ]


def _told_apart(paths: Sequence[Path]) -> list[str]:
    """`short` and `long`, or `first/induction` and `second/induction` where the folders' own names are the same."""
    parts = [path.resolve().parts for path in paths]
    depth = 1
    while len({own[-depth:] for own in parts}) < len(set(parts)):
        depth += 1
    return _slugs(["/".join(own[-depth:]) for own in parts])


def _slugs(names: list[str]) -> list[str]:
    return [name if names.count(name) == 1 else f"{name}-{place + 1}" for place, name in enumerate(names)]


def _summary(run: Run) -> Result:
    file = run.path / SUMMARY
    return _read(file) if file.exists() else {}


def _measures(run: Run) -> dict[str, Result]:
    """What is kept beside the run, and over it what lies in the folder of --results."""
    files = {file.stem: file for folder in reversed(run.evaluations) for file in sorted(folder.glob("*.json"))}
    return {stem: _read(file, _is_result) for stem, file in files.items()}


def _is_result(content: Result) -> bool:
    return bool(content.get("format") == format_of(content.get("measure", "")))


def _manifests(runs: list[RunResults], dataset: Path | None) -> list[Result]:
    """The passports of the runs' datasets, where they are found."""
    hashes = {path: one.run.config.dataset_hash for one in runs if (path := one.run.dataset_path(dataset))}
    found = {path: path / MANIFEST for path in hashes}
    read = {path: _read(file, _is_passport) for path, file in found.items() if file.is_file()}
    return [manifest for path, manifest in read.items() if manifest.get("content_hash") == hashes[path]]


def _is_passport(content: Result) -> bool:
    return content.get("format") in DATASET_FORMATS


def _leakage(runs: list[RunResults], results: Path | None, dataset: Path | None) -> Result | None:
    """The leak report of the dataset that the runs share, where one was made."""
    hashes = {run.config.dataset_hash for run in runs}
    if len(hashes) != 1:
        return None
    path = runs[0].run.dataset_path(dataset) or Path(runs[0].config.dataset)
    files = report_files(path, runs[0].config.dataset_hash, results)
    found = (_read(file) for file in files if file.is_file())
    return next((report for report in found if report.get("dataset_hash") in hashes), None)


def _bench(file: Path) -> Result:
    if not (file.is_file() or is_stream(file)):
        raise RunError(f"{file} is not there; give the file that `dnagoat bench --out` wrote")
    content = _read(file)
    if content.get("measure") != "bench":
        raise RunError(f"{file} is not what `dnagoat bench --out` writes")
    return content


def _read(file: Path, known: Callable[[Result], bool] = lambda content: content.get("format", 1) == 1) -> Result:
    try:
        content = read_json(file)
    except ValueError:
        raise RunError(f"{file} is damaged; remove it and make it again") from None
    if not isinstance(content, dict) or not known(content):
        raise RunError(f"{file} has a format that this version does not know; make it again")
    return content
