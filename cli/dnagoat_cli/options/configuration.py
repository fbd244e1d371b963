"""Which configuration and which dataset `train` is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from dnagoat_cli.terminal.prose import print_prose

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.genome.dataset import Dataset


def configuration(
    dataset: Path | None,
    out: Path,
    preset: str | None,
    options: Mapping[str, Any],
    *,
    resume: bool,
    match: bool,
    origin: Path | None = None,
) -> tuple[RunConfig, Dataset]:
    """The run's configuration and its dataset: those of a resumed run, with which what was given has to agree.

    `origin` is the run whose weights it starts from.
    """
    from dnagoat.errors import DatasetError, OptionError
    from dnagoat.genome.dataset import open_dataset
    from dnagoat.training.kept.run import CONFIG, open_run
    from dnagoat.training.presets import changed, configure
    from dnagoat.training.start import origin_of, refuse_other_model, started
    from dnagoat.training.step.matching import matched

    def settled(config: RunConfig) -> RunConfig:
        return config.but(model=matched(config.model)) if match else config

    if resume and (out / CONFIG).exists():
        run = open_run(out)
        config = changed(run.config, options if preset is None else {**options, "preset": preset})
        if origin is not None:
            config = config.but(origin=origin_of(open_run(origin)))
        if run.dataset_path(dataset) is None:
            raise DatasetError(
                f"{out} is trained on {run.config.dataset}, which is not there; say where it lies now with "
                "`dnagoat train DATASET --resume`"
            )
        return settled(config), run.dataset(dataset)
    if dataset is None:
        raise OptionError("no dataset was given; name the folder that `dnagoat prepare` wrote")
    data = open_dataset(dataset)
    if origin is not None:
        start = open_run(origin)
        config = started(start, data, options, preset=preset)
        refuse_other_model(config, settled(config), start.path)
        return config, data
    return settled(configure(preset or "small", str(dataset), data.content_hash, data.window, options)), data


def say(sentence: str) -> None:
    print_prose(sentence, Console(stderr=True), style="yellow")
