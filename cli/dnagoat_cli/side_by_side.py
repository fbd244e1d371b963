"""How the runs of a comparison are trained: each in a fresh process, a few side by side, continued where begun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dnagoat.errors import Stopped

if TYPE_CHECKING:
    from dnagoat.config import RunConfig

PATIENCE = 0.5  # seconds between looks at the runs


@dataclass(frozen=True)
class Planned:
    """A run to be trained: its configuration and its folder."""

    config: RunConfig
    out: Path

    @property
    def done(self) -> bool:
        return (self.out / "summary.json").exists()

    @property
    def step(self) -> int:
        """The last step that the run has written down."""
        row = last_row(self.out / "metrics.jsonl")
        return int(row["step"]) if row else 0


@dataclass(frozen=True)
class Job:
    """A run in training; what it says goes to `log`."""

    run: Planned
    process: subprocess.Popen[bytes]
    log: IO[bytes]

    def fault(self) -> str | None:
        """The last thing that a failed process said."""
        self.log.seek(0)
        said = self.log.read().decode(errors="replace").strip().splitlines()
        return said[-1].removeprefix("error: ") if said else f"exit code {self.process.returncode}"


def train_all(
    runs: Sequence[Planned], *, jobs: int, threads: int, device: str, stop: Callable[[], str | None], quiet: bool
) -> None:
    """Trains every run that is not done yet, in this order; a `TrainingError` of one ends the others in good order."""
    from dnagoat.errors import RunError
    from dnagoat.training.kept.folder import begin, open_folder

    for run in runs:
        refusal = open_folder(run.out) or begin(run.out, run.config, resume=True, force=False)
        if refusal:
            raise RunError(refusal)
    waiting, running = [run for run in runs if not run.done], list[Job]()
    with _bar(quiet) as bar:
        task = bar.add_task("", total=sum(run.config.train.steps for run in runs), said="")
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.append(_start(waiting.pop(0), threads, device))
                time.sleep(PATIENCE)
                if name := stop():  # asked first: the runs may have heard it too, and are no failures then
                    raise Stopped(Signals[name])
                running = [job for job in running if not _ended(job)]
                bar.update(task, completed=sum(run.step for run in runs), said=_said(running))
        finally:
            _end(running)


def _start(run: Planned, threads: int, device: str) -> Job:
    command = [sys.executable, "-m", "dnagoat_cli", "train", run.config.dataset, "--out", str(run.out)]
    command += ["--resume", "--device", device]
    from dnagoat.training.launch.processes import lone

    log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as its process)
    environment = {**lone(os.environ), "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
    return Job(run, process, log)


def _ended(job: Job) -> bool:
    from dnagoat.errors import TrainingError

    if job.process.poll() is None:
        return False
    if job.process.returncode or not job.run.done:
        raise TrainingError(f"{job.run.out}: {job.fault()}")
    return True


def _end(running: Sequence[Job]) -> None:
    """Asks what still trains to save and stop, and waits for it."""
    for job in running:
        if job.process.poll() is None:
            job.process.terminate()
    for job in running:
        job.process.wait()
        job.log.close()


def last_row(file: Path) -> dict[str, Any] | None:
    """The last whole row of a metrics.jsonl, without reading all of it."""
    if not file.exists():
        return None
    with file.open("rb") as handle:
        handle.seek(max(0, file.stat().st_size - 8192))
        lines = handle.read().split(b"\n")[:-1]
    try:
        row: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        return None
    return row


def _said(running: Sequence[Job]) -> str:
    return "  ".join(f"{job.run.out.name} {job.run.step:,}" for job in running)


def _bar(quiet: bool) -> Progress:
    return Progress(
        TextColumn("[bold]training"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}", style="dim"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True, quiet=quiet),
    )
