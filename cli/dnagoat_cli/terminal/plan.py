"""What `dnagoat train --plan` shows: the cost of a run before it is begun."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich.console import Console

from dnagoat.reporting.sections.plan import plan_table
from dnagoat_cli.terminal.bar import show_progress
from dnagoat_cli.terminal.grid import draw_table
from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.training.launch.parallel import Execution


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
        draw_table(plan_table(config, planned, str(here), windows), Console(highlight=False))
