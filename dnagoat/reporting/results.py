"""What a report is made from: the result files in run folders and beside them, read and named, never computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from dnagoat.config import RunConfig
from dnagoat.errors import RunError
from dnagoat.files import read_json
from dnagoat.reporting.arms import labels
from dnagoat.runs import Run, open_run

Result = dict[str, Any]


@dataclass(frozen=True)
class RunResults:
    """One run as a report sees it; `measures` maps the stem of evaluation/STEM.json to its content."""

    run: Run
    arm: str
    metrics: list[Result]
    summary: Result  # of the whole training, empty before its end
    measures: dict[str, Result]

    @property
    def name(self) -> str:
        return self.run.name

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

    def last(self, key: str) -> Any:
        """The newest value of a metric that is not null, or None."""
        return next((row[key] for row in reversed(self.metrics) if row.get(key) is not None), None)


@dataclass(frozen=True)
class Results:
    """Everything that one report shows."""

    runs: list[RunResults]
    comparison: Result | None = None
    bench: list[Result] = field(default_factory=list)
    leakage: Result | None = None

    @property
    def arms(self) -> list[str]:
        return list(dict.fromkeys(run.arm for run in self.runs))

    def of(self, arm: str) -> list[RunResults]:
        return [run for run in self.runs if run.arm == arm]


def read_runs(paths: Sequence[Path]) -> list[RunResults]:
    """The runs at these paths, in this order; a `RunError` says which file cannot be read."""
    runs = [open_run(path) for path in paths]
    names = labels([run.config for run in runs])
    return [
        RunResults(run, arm, run.metrics(), _summary(run), _measures(run)) for run, arm in zip(runs, names, strict=True)
    ]


def _summary(run: Run) -> Result:
    file = run.path / "summary.json"
    return _read(file) if file.exists() else {}


def _measures(run: Run) -> dict[str, Result]:
    return {file.stem: _read(file) for file in sorted((run.path / "evaluation").glob("*.json"))}


def _read(file: Path) -> Result:
    try:
        content = read_json(file)
    except ValueError:
        raise RunError(f"{file} is damaged; remove it, and `dnagoat report` computes it again") from None
    if not isinstance(content, dict) or content.get("format", 1) != 1:
        raise RunError(f"{file} has a format that this version does not know; evaluate the run again")
    return content
