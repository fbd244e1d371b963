"""Started by the test: trains in forked children that kill themselves at random moments, and resumes until the end.

    killed.py CONFIG.json OUT RUNS KILLS   trains OUT/0, OUT/1, ..., each killed KILLS times; prints how each died

A moment is: before or after the n-th call of one of the functions through which a run reaches the disk, or of a step.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dnagoat.config import RunConfig
from dnagoat.training.engine import Engine
from dnagoat.training.kept import checkpoint, metrics
from dnagoat.training.loop import train

MOMENTS: list[tuple[Any, str]] = [
    (Engine, "step"),
    (metrics.Metrics, "write"),
    (checkpoint, "save_file"),
    (checkpoint, "write_json"),
    (Path, "rename"),
    (Path, "replace"),
    (os, "fsync"),
]


def deadly(owner: Any, name: str, nth: int, after: bool) -> None:
    """From now on the n-th call of a function is the last thing that this process tree does."""
    original: Callable[..., Any] = getattr(owner, name)
    calls = [0]

    def dying(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] == nth and not after:
            os.killpg(0, signal.SIGKILL)
        result = original(*args, **kwargs)
        if calls[0] == nth:
            os.killpg(0, signal.SIGKILL)
        return result

    setattr(owner, name, dying)


def sitting(config: RunConfig, out: Path, moment: tuple[int, int, bool] | None) -> int:
    """One process that trains, to the end or to its death; its exit status."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if moment is not None:
            deadly(*MOMENTS[moment[0]], *moment[1:])
        for _ in train(config, out, device="cpu", resume=True):
            pass
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main(config_file: str, out: str, runs: str, kills: str) -> None:
    config = RunConfig(**json.loads(Path(config_file).read_text()))
    dice = random.Random(11)
    deaths = []
    for run in range(int(runs)):
        # Every kind of moment once over the runs, at a random call, then any.
        for kill in range(int(kills)):
            kind = (run * int(kills) + kill) % len(MOMENTS)
            moment = (kind, dice.randint(1, 4), dice.random() < 0.5)
            status = sitting(config, Path(out) / str(run), moment)
            deaths.append([MOMENTS[kind][1], *moment[1:], os.WIFSIGNALED(status)])
        if sitting(config, Path(out) / str(run), None):
            sys.exit(f"run {run} did not end well")
    print(json.dumps(deaths))


main(*sys.argv[1:])
