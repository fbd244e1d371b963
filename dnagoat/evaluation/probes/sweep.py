"""How the models of a sweep are trained: one after another or a few side by side, each kept as soon as it is done."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TypeVar

import torch

from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.errors import DnagoatError, TrainingError
from dnagoat.evaluation.probes import finished as rows
from dnagoat.evaluation.probes.finished import Row, Unit
from dnagoat.progress import Progress, silent
from dnagoat.training.engine import OutOfMemory, memory_named
from dnagoat.training.kept.lock import locked
from dnagoat.training.launch.devices import VISIBLE, least_used, visible_gpus
from dnagoat.training.launch.processes import Processes
from dnagoat.training.loop import nobody

U = TypeVar("U", bound=Unit)
Work = Callable[[U, Progress], Row]
ALONE = Processes(0, 1, torch.device("cpu"))  # who writes; those that train for it write nothing
FRESH = get_context("spawn")  # a fork would take over a device and threads that are in use


@dataclass(frozen=True)
class Sweep:
    """Where rows are kept (nowhere without a folder), how many models train at once, what may be replaced, and what was
    said of the device: with `auto` or `cuda` each model of those at work has a GPU of its own where there are as many.
    """

    out: Path | None = None
    jobs: int = 1
    force: bool = False
    device: str = "cpu"

    def run(self, settings: Row, units: Sequence[U], work: Work[U], progress: Progress) -> dict[U, Row]:
        """What `work` finds for every unit; rows of the same settings that are there already are not made again.

        A `RunError` where another sweep writes to the folder.
        """
        if self.out:
            self.out.mkdir(parents=True, exist_ok=True)
        with locked(self.out, ALONE, nobody) if self.out else nullcontext():
            return self._run(settings, units, work, progress)

    def _run(self, settings: Row, units: Sequence[U], work: Work[U], progress: Progress) -> dict[U, Row]:
        kept = rows.begin(self.out, settings, units, force=self.force) if self.out else {}
        found = {unit: kept[rows.key(unit)] for unit in units if rows.key(unit) in kept}
        waiting = [unit for unit in dict.fromkeys(units) if unit not in found]
        for unit, row in self._made(waiting, work, progress):
            found[unit] = row
            if self.out:
                rows.add(self.out, unit, row)
        return found

    def _made(self, units: Sequence[U], work: Work[U], progress: Progress) -> Iterator[tuple[U, Row]]:
        if self.jobs == 1:
            return ((unit, _done(work, unit, progress)) for unit in units)
        return _side_by_side(units, work, self.jobs, visible_gpus(self.device), progress)


def _done(work: Work[U], unit: U, progress: Progress) -> Row:
    """The unit's row; too large a model is the user's to mend."""
    try:
        with flush_subnormals(), memory_named(0):
            return work(unit, progress)
    except (MemoryError, OutOfMemory):
        raise TrainingError(
            f"there is no memory for {_describe(unit)}; give a smaller --batch-size, --width, --length or --trials"
        ) from None


def _describe(unit: Unit) -> str:
    return ", ".join(map(str, unit))


def _side_by_side(
    units: Sequence[U], work: Work[U], jobs: int, gpus: Sequence[str], progress: Progress
) -> Iterator[tuple[U, Row]]:
    """Each unit in a fresh process, as they end; a fault of one ends the others."""
    waiting, total = list(units), len(units)
    running: dict[Connection, tuple[U, SpawnProcess, str | None]] = {}
    progress(f"{jobs} side by side", 0, total)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                unit = waiting.pop(0)
                ours, theirs = FRESH.Pipe(duplex=False)
                gpu = least_used(gpus, [taken for _, _, taken in running.values()])
                process = FRESH.Process(target=_send, args=(theirs, work, unit, gpu), daemon=True)
                process.start()
                running[ours] = unit, process, gpu
                theirs.close()  # or the pipe of a process that was killed would stay open here
            for pipe in wait(list(running)):
                assert isinstance(pipe, Connection)
                unit, process, _ = running[pipe]
                yield unit, _received(pipe, unit)
                process.join()
                del running[pipe]
                progress(f"{jobs} side by side", total - len(waiting) - len(running), total)
    finally:
        for _, process, _ in running.values():
            process.terminate()
            process.join()


def _send(pipe: Connection, work: Work[U], unit: U, gpu: str | None) -> None:
    if gpu is not None:  # nothing has asked for a GPU yet: this one alone is there, as the first
        os.environ[VISIBLE] = gpu
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and ends this process
    torch.set_num_threads(1)
    try:
        pipe.send(_done(work, unit, silent))
    except DnagoatError as fault:
        pipe.send(fault)


def _received(pipe: Connection, unit: Unit) -> Row:
    try:
        found = pipe.recv()
    except EOFError:
        raise TrainingError(
            f"the process that trained {_describe(unit)} has died; the same command goes on from the others, with "
            "fewer --jobs where memory was short"
        ) from None
    if isinstance(found, DnagoatError):
        raise found
    return dict(found)
