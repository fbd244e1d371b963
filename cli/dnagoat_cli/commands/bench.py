"""`dnagoat bench`: what arms cost in memory and time, each measurement in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dnagoat_cli.main import app
from dnagoat_cli.options.defaults import NamesPresets
from dnagoat_cli.options.runs import Preset

if TYPE_CHECKING:
    from dnagoat.measure.job import Job

EXAMPLES = """
Measure memory and speed of training, evaluation and generation.

Every measurement is a fresh process; arms take turns, round after round; warm-up is outside the clock, peaks are reset
before and read after; the kernel that ran is read from a profile; running out of memory is a row.

[bold]Examples[/bold]

  dnagoat bench                                            [dim]RoPE and GOAT, one training step, preset small[/dim]

  dnagoat bench --preset tiny --arm rope --arm goat --arm alibi --length 1024 --length 4096

  dnagoat bench --what generate --length 512 --batch-size 64

  dnagoat bench --paper --out bench.json                   [dim]the GOAT authors' configuration and figures[/dim]
"""

WHERE = "How it is measured"


@app.command(help=EXAMPLES, cls=NamesPresets)
def bench(
    arm: Annotated[
        list[str] | None, typer.Option(help="Position scheme, or goat-attention (the authors' module); repeatable.")
    ] = None,
    what: Annotated[list[str] | None, typer.Option(help="train, evaluate, generate; repeatable.")] = None,
    preset: Preset = None,
    length: Annotated[list[int] | None, typer.Option(help="Bases of a sequence; repeatable.")] = None,
    batch_size: Annotated[list[int] | None, typer.Option(help="Sequences at once; repeatable.")] = None,
    precision: Annotated[list[str] | None, typer.Option(help="fp32, tf32, bf16, fp16; repeatable.")] = None,
    kernel: Annotated[list[str] | None, typer.Option(help="auto, sdpa, flash, dense; repeatable.")] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="The authors' configuration, as it is: RoPE, GOAT, their module.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.", rich_help_panel=WHERE)] = "auto",
    rounds: Annotated[int, typer.Option(min=1, help="Processes of each arm.", rich_help_panel=WHERE)] = 3,
    repeats: Annotated[int, typer.Option(min=1, help="Timed calls in each, at least.", rich_help_panel=WHERE)] = 5,
    seconds: Annotated[
        float, typer.Option(min=0, help="Seconds that they take together, at least.", rich_help_panel=WHERE)
    ] = 1.0,
    compiled: Annotated[
        bool, typer.Option("--compile", help="torch.compile the model.", rich_help_panel=WHERE)
    ] = False,
    warmup: Annotated[int, typer.Option(min=0, help="Calls before the clock starts.", rich_help_panel=WHERE)] = 2,
    out: Annotated[
        Path | None, typer.Option(help="File for the rows, as JSON (-: standard output); a report can show it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    from dnagoat.files import may_write, write_json
    from dnagoat.streams import STANDARD
    from dnagoat_cli.options.jobs import arms_from, jobs_from
    from dnagoat_cli.terminal.show import show_benchmark

    if out is not None:
        may_write(out, "--out", force=force)
    if paper:
        _refuse_changed({"preset": preset, "length": length, "batch-size": batch_size, "precision": precision})
    jobs = jobs_from(
        preset="paper" if paper else preset or "small",
        arms=arms_from(arm, paper),
        whats=what or ["train"],
        lengths=length,
        batches=batch_size,
        precisions=precision,
        kernels=kernel or ["auto"],
        device=device,
        warmup=warmup,
        repeats=repeats,
        seconds=seconds,
        compiled=compiled,
    )
    result = _measure(jobs, rounds, paper=paper)
    if out is not None:
        write_json(out, result)
    if out != STANDARD:
        show_benchmark(result, out, as_json)


def _measure(jobs: Sequence[Job], rounds: int, *, paper: bool) -> dict[str, Any]:
    """The rows, and what they say of themselves; a bar says which measurement runs."""
    import shlex
    import sys

    import dnagoat
    from dnagoat.measure.benchmark import PUBLISHED
    from dnagoat.measure.benchmark import bench as measure
    from dnagoat_cli.terminal.bar import show_progress

    total = len(jobs) * rounds
    with show_progress() as tell:
        rows = measure(jobs, rounds, lambda job, done: tell("measurements", done, total, f"{job.what} {job.arm}"))
    return {
        "format": 1,
        "measure": "bench",
        "unit": "bases per second; bytes",
        "tool_version": dnagoat.__version__,
        "command": shlex.join(["dnagoat", *sys.argv[1:]]),
        "rows": rows,
        "published": list(PUBLISHED) if paper else [],
    }


def _refuse_changed(options: dict[str, object]) -> None:
    """The published figures stand beside their own setting alone."""
    from dnagoat.errors import OptionError

    changed = ", ".join(f"--{name}" for name, value in options.items() if value)
    if changed:
        raise OptionError(f"--paper is the authors' own setting, beside their figures; leave out {changed}, or --paper")
