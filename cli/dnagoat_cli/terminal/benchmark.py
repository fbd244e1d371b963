"""How `bench` makes its jobs, shows its progress and draws its table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.progress import show_progress

if TYPE_CHECKING:
    from dnagoat.measure.bench import Row
    from dnagoat.measure.job import Job


def arms_from(arms: list[str] | None, paper: bool) -> list[str]:
    """The arms that were named, else RoPE and GOAT; with --paper also the authors' module where it is installed."""
    from dnagoat.attention.schemes.registry import SCHEMES, USUAL
    from dnagoat.errors import OptionError
    from dnagoat.measure.bench import paper_arms
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
    from dnagoat.measure.bench import bench

    with show_progress() as tell:
        total = len(jobs) * rounds
        return bench(jobs, rounds, lambda job, done: tell("measurements", done, total, f"{job.what} {job.arm}"))


def show(rows: list[Row], out: Path | None, *, paper: bool, as_json: bool) -> None:
    """A table for a person, JSON where it was asked for, and the file."""
    import dnagoat
    from dnagoat.files import write_json
    from dnagoat.measure.bench import PUBLISHED
    from dnagoat.streams import STANDARD

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
    _draw(rows, paper)
    if out is not None:
        sys.stdout.write(f"{out}\n")


def _draw(rows: list[Row], paper: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console

    from dnagoat.measure.bench import PUBLISHED
    from dnagoat.reporting.bench import CAVEAT, outcome_of, setting_of
    from dnagoat_cli.terminal.table import Table

    console = Console(highlight=False)
    cuda = any(row["cuda_allocated_peak"] for row in rows)
    for setting in dict.fromkeys(map(setting_of, rows)):
        table = Table(title=setting, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("arm", no_wrap=True)
        memory = ("CUDA allocated", "CUDA reserved") if cuda else ("resident",)
        for column in ("bases/s", "lowest to highest", *memory):
            table.add_column(column, justify="right", no_wrap=True)
        table.add_column("kernel that ran")
        table.add_column("outcome")
        for row in rows:
            if setting_of(row) == setting:
                table.add_row(row["arm"], *_cells(row, cuda), outcome_of(row))
        if paper and setting.startswith("train"):
            for known in PUBLISHED:
                peak = (f"{known['cuda_peak'] / 1e9:.2f} GB", "") if cuda else ("",)
                table.add_row(
                    f"{known['arm']}, A100", f"{known['tokens_per_second']:,}", "", *peak, "", "published", style="dim"
                )
        console.print(table)
    for why in dict.fromkeys(f"{row['arm']}: {row['why']}" for row in rows if "why" in row):
        console.print(f"note: {why}", soft_wrap=True)
    memory_is = (
        "CUDA: what PyTorch allocated and reserved." if cuda else "Resident: the whole process, libraries included."
    )
    console.print(f"Median of all repeats. Peaks after warm-up. {memory_is}", style="dim", soft_wrap=True)
    if paper:
        console.print(CAVEAT, style="dim", soft_wrap=True)


def _cells(row: Row, cuda: bool) -> list[str]:
    names = ("cuda_allocated_peak", "cuda_reserved_peak") if cuda else ("resident_peak",)
    peaks = ["n/a" if row[name] is None else f"{row[name] / 1e9:.2f} GB" for name in names]
    if row["tokens_per_second"] is None:
        return ["n/a", "", *peaks, ""]
    low, high = row["tokens_per_second_spread"]
    return [f"{row['tokens_per_second']:,.0f}", f"{low:,.0f} to {high:,.0f}", *peaks, row["kernel_ran"]]
