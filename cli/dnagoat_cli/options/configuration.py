"""Which configuration and which dataset `train` is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

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
