"""How several runs are trained: each in a fresh process, a few side by side, continued where they were begun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from signal import Signals
from typing import IO, Any

from dnagoat.config import RunConfig
from dnagoat.errors import RunError, Stopped, TrainingError
from dnagoat.genome.dataset import open_dataset
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import METRICS, SUMMARY
from dnagoat.training.kept.run_folder import begin, open_folder
from dnagoat.training.launch.devices import VISIBLE, least_used, visible_gpus
from dnagoat.training.launch.processes import lone
from dnagoat.training.launch.stop import Stop, never

PATIENCE = 0.5  # seconds between looks at the runs


@dataclass(frozen=True)
class PlannedRun:
    """A run to be trained: its configuration and its folder."""

    config: RunConfig
    out: Path

    @property
    def done(self) -> bool:
        return (self.out / SUMMARY).exists()

    @property
    def step(self) -> int:
        """The last step that the run has written down."""
        row = read_last_row(self.out / METRICS)
        return int(row["step"]) if row else 0


@dataclass(frozen=True)
class Worker:
    """A run in training; what its process says goes to `log`."""

    run: PlannedRun
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    gpu: str | None = None  # the one that it was given

    def fault(self) -> str:
        """The last thing that a failed process said."""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self.process.returncode}"


def train_side_by_side(
    runs: Sequence[PlannedRun],
    *,
    jobs: int,
    threads: int,
    device: str,
    stop: Stop = never,
    progress: Progress = silent,
) -> None:
    """Trains every run that is not done yet, in this order, `jobs` at once with `threads` CPU threads each, and each on
    a GPU of its own where there are as many.

    `progress` hears the steps of all runs, and of each that is in training. Once `stop` names a signal, every process
    saves its run and ends, and `Stopped` is raised. A run that fails is a `TrainingError`, after the others have saved.
    """
    runs = with_tables(runs, progress)
    for run in runs:
        refusal = open_folder(run.out) or begin(run.out, run.config, resume=True, force=False)
        if refusal:
            raise RunError(refusal)
    total = sum(run.config.train.steps for run in runs)
    waiting, running, gpus = [run for run in runs if not run.done], list[Worker](), visible_gpus(device)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_start(waiting.pop(0), threads, device, least_used(gpus, [job.gpu for job in running])))
            time.sleep(PATIENCE)
            if name := stop():  # asked first: the runs may have heard it too, and are no failures then
                raise Stopped(Signals[name])
            running = [job for job in running if not _has_ended(job)]
            for job in running:
                progress(f"training {job.run.out.name}", job.run.step, job.run.config.train.steps)
            progress("training all runs", sum(run.step for run in runs), total)
    finally:
        _end(running)


def with_tables(runs: Sequence[PlannedRun], progress: Progress = silent) -> list[PlannedRun]:
    """The runs as they will be begun: one with counted memory names its dataset's tables, which are built here once."""
    reading = {run.config.dataset for run in runs if run.config.model.memory}
    names = {place: _tables(Path(place), progress) for place in reading}
    return [
        replace(run, config=run.config.but(memory_tables=names[run.config.dataset])) if run.config.model.memory else run
        for run in runs
    ]


def _tables(place: Path, progress: Progress) -> str:
    from dnagoat.counts.memory.tables import BUDGET, open_memory  # compiled loops, which only memory needs

    dataset = open_dataset(place)
    bases = sum(int(end - start) for start, end in dataset.spans("train"))
    return open_memory(
        dataset, BUDGET, lambda share: progress("counting training bases", int(share * bases), bases)
    ).name


def _start(run: PlannedRun, threads: int, device: str, gpu: str | None) -> Worker:
    command = [sys.executable, "-m", "dnagoat.training.launch.worker", str(run.out), device]
    log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as its process)
    environment = {**lone(os.environ), "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    if gpu is not None:
        environment[VISIBLE] = gpu
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
    return Worker(run, process, log, gpu)


def _has_ended(job: Worker) -> bool:
    if job.process.poll() is None:
        return False
    if job.process.returncode or not job.run.done:
        raise TrainingError(f"{job.run.out}: {job.fault()}")
    job.log.close()
    return True


def _end(running: Sequence[Worker]) -> None:
    """Asks what still trains to save and stop, and waits for it."""
    for job in running:
        if job.process.poll() is None:
            job.process.terminate()
    for job in running:
        job.process.wait()
        job.log.close()


def read_last_row(file: Path) -> dict[str, Any] | None:
    """The last whole row of a metrics.jsonl, without reading all of it, however long its rows are."""
    if not file.exists():
        return None
    size, tail = file.stat().st_size, 8192
    with file.open("rb") as handle:
        while True:
            handle.seek(max(0, size - tail))
            lines = handle.read(tail).split(b"\n")[:-1]
            if len(lines) > 1 or tail >= size:
                break
            tail *= 4
    try:
        row: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        return None
    return row
