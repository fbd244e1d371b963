"""What `dnagoat train --plan` shows: the cost of a run before it is begun."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich.console import Console

from dnagoat.wording import counted
from dnagoat_cli.terminal.letters import json_text
from dnagoat_cli.terminal.progress import show_progress
from dnagoat_cli.terminal.table import Table

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.training.launch.parallel import Execution
    from dnagoat.training.plan import RunCost

MIB, GIB = 2**20, 2**30


def show_plan(config: RunConfig, device: str, how: Execution, as_json: bool) -> None:
    """Plans, measures the speed over one window on this device, and prints."""
    from dnagoat.training.launch.processes import pick_device, place
    from dnagoat.training.plan import plan, speed

    here = pick_device(device)
    planned = plan(config, here, how, processes=place()[1])
    windows = max(1, min(planned.windows, planned.largest, 32 if here.type == "cuda" else 1))
    if planned.largest:
        with show_progress("measuring the speed of a step"):
            rate = speed(config, here, windows)
        bases = config.train.steps * config.train.batch_size * config.model.context
        planned = replace(planned, tokens_per_second=rate, hours=bases / rate / place()[1] / 3600)
    if as_json:
        more = {"activations": planned.activations, "expected": planned.expected, "largest": planned.largest}
        sys.stdout.write(json_text(asdict(planned) | more | {"device": str(here)}))
    else:
        Console().print(_table(config, planned, str(here), windows))


def _table(config: RunConfig, planned: RunCost, device: str, windows: int) -> Table:
    train, position = config.train, config.model.position.name
    steps = f"{counted(train.steps, 'step')} of {counted(train.batch_size, 'window')}"
    table = Table(title=f"{config.preset} with {position}, {steps}", box=None)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    rows = [
        ("parameters", f"{planned.parameters:,}", f"{planned.position_parameters:,} of them position"),
        ("arithmetic", f"{planned.flops_per_token / 1e6:,.1f} MFLOP", "a base, forward and backward"),
        ("weights", _size(planned.weights), "float32"),
        ("gradients", _size(planned.gradients), "float32"),
        ("optimizer", _size(planned.optimizer), "AdamW's two moments"),
        ("activations", _size(planned.activations), f"{counted(planned.windows, 'window')} at once, {train.precision}"),
        ("expected memory", _size(planned.expected), f"of {_size(planned.device_bytes)} on {device}"),
        ("largest batch", f"{planned.largest:,}", f"windows of {config.model.context:,} bases at once on {device}"),
        ("speed", _or_dash(planned.tokens_per_second, ",.0f"), f"bases/s, measured here with {windows} at once"),
        ("hours", _or_dash(planned.hours, ",.2f"), "for all steps, without validation"),
    ]
    for row in rows:
        table.add_row(*row)
    return table


def _size(count: int) -> str:
    return f"{count / GIB:,.2f} GiB" if count >= GIB else f"{count / MIB:,.1f} MiB"


def _or_dash(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
