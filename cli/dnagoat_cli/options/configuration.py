"""What a training command does before the first step and after the last: which configuration, and what is shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from dnagoat_cli.terminal.letters import json_text

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.genome.dataset import Dataset


def configuration(
    dataset: Path | None, out: Path, preset: str | None, options: Mapping[str, Any], *, resume: bool, match: bool
) -> tuple[RunConfig, Dataset]:
    """The run's configuration and its dataset: those of a resumed run, with which what was given has to agree."""
    from dnagoat.errors import OptionError
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.training.kept.run import open_run
    from dnagoat.training.presets import changed, configure
    from dnagoat.training.step.matching import matched

    def settled(config: RunConfig) -> RunConfig:
        return config.but(model=matched(config.model)) if match else config

    if resume and (out / "config.json").exists():
        run = open_run(out)
        config = changed(run.config, options if preset is None else {**options, "preset": preset})
        return settled(config), run.dataset(dataset)
    if dataset is None:
        raise OptionError("no dataset was given; name the folder that `dnagoat prepare` wrote")
    data = open_dataset(dataset)
    return settled(configure(preset or "small", str(dataset), data.content_hash, data.window, options)), data


def say(sentence: str) -> None:
    Console(stderr=True).print(sentence, style="yellow", highlight=False, soft_wrap=True)


def conclude(out: Path, as_json: bool) -> None:
    """What a run came to, from its summary.json; nothing where it was stopped before its end."""
    from dnagoat.wording import counted

    file = out / "summary.json"
    if not file.exists():
        return
    summary = json.loads(file.read_text(encoding="utf-8"))
    if as_json:
        sys.stdout.write(json_text(summary))
        return
    best = "never validated"
    if summary["best_val_nll"] is not None:
        best = f"best validation {summary['best_val_nll']:.4f} nats/base at step {summary['best_step']}"
    Console().print(
        f"[bold]{out}[/bold]  {counted(summary['steps'], 'step')}, {counted(summary['bases'], 'base')} in "
        f"{summary['seconds']:.0f} s, {summary['tokens_per_second']:,.0f} bases/s; {best}",
        highlight=False,
        soft_wrap=True,
    )
