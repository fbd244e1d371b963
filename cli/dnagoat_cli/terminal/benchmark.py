"""How `bench` makes its jobs, shows its progress and draws its table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.measure.benchmark import Row
    from dnagoat.measure.job import Job


def arms_from(arms: list[str] | None, paper: bool) -> list[str]:
    """The arms that were named, else RoPE and GOAT; with --paper also the authors' module where it is installed."""
    from dnagoat.attention.schemes.registry import SCHEMES, USUAL
    from dnagoat.errors import OptionError
    from dnagoat.measure.benchmark import paper_arms
    from dnagoat.measure.job import PEER

    known = [*SCHEMES, PEER]
    for arm in arms or []:
        if arm not in known:
            raise OptionError(f"--arm {arm}: there are {', '.join(known)}")
    return list(dict.fromkeys(arms)) if arms else paper_arms() if paper else list(USUAL)


def jobs_from(*, preset: str, device: str, **axes: Any) -> list[Job]:
    """The grid of jobs; lengths, batches and precisions that were not named are those of the preset."""
    from dnagoat.measure.job import grid
    from dnagoat.training.launch.processes import pick_device
    from dnagoat.training.presets import preset as preset_of

    model, train = preset_of(preset)
    axes["lengths"] = axes["lengths"] or [model.context]
    axes["batches"] = axes["batches"] or [train.batch_size]
    axes["precisions"] = axes["precisions"] or [train.precision]
    return list(grid(model, train, device=str(pick_device(device)), **axes))


def measured(jobs: Sequence[Job], rounds: int) -> list[Row]:
    """The rows, while it is told which measurement runs."""
    from dnagoat.measure.benchmark import bench

    with show_progress() as tell:
        total = len(jobs) * rounds
        return bench(jobs, rounds, lambda job, done: tell("measurements", done, total, f"{job.what} {job.arm}"))


def show(rows: list[Row], out: Path | None, *, paper: bool, as_json: bool) -> None:
    """A table for a person, JSON where it was asked for, and the file."""
    from rich.console import Console

    import dnagoat
    from dnagoat.files import write_json
    from dnagoat.measure.benchmark import PUBLISHED
    from dnagoat.reporting.sections.cost import benchmark
    from dnagoat.streams import STANDARD
    from dnagoat_cli.terminal.grid import draw_table

    result = {
        "format": 1,
        "measure": "bench",
        "unit": "bases per second; bytes",
        "tool_version": dnagoat.__version__,
        "command": shlex.join(["dnagoat", *sys.argv[1:]]),
        "rows": rows,
        "published": list(PUBLISHED) if paper else [],
    }
    if out is not None:
        write_json(out, result)
    if out == STANDARD:
        return
    if as_json:
        sys.stdout.write(json_text(result))
        return
    table = benchmark([result])
    if table is not None:
        draw_table(table, Console(highlight=False))
    if out is not None:
        sys.stdout.write(f"{out}\n")
