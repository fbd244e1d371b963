"""Does an arm gain from context longer than any that it was trained on? Arms are trained on DNA, then scored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from dnagoat.attention.schemes.registry import USUAL
from dnagoat.config import RunConfig
from dnagoat.evaluation.comparison.arms import of_arm, read_arms, run_folder
from dnagoat.evaluation.comparison.labels import label_arms
from dnagoat.evaluation.measure import MeasureOptions, Result
from dnagoat.evaluation.measures.lengths import fitting, parse, refuse_dense
from dnagoat.evaluation.probes.lists import MOST_SEEDS, ONCE, SOME
from dnagoat.evaluation.results import ensure
from dnagoat.frozen import Frozen
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import open_run
from dnagoat.training.launch.processes import pick_device
from dnagoat.training.launch.stop import stop_asked
from dnagoat.training.loop import train
from dnagoat.training.presets import configure
from dnagoat.training.step.matching import count


class ExtrapolateOptions(Frozen):
    """Which arms are trained from which seeds, and at which lengths (`4x` or bases) the same bases are scored."""

    arms: Annotated[tuple[str, ...], SOME, ONCE] = USUAL
    seeds: int = Field(1, ge=1, le=MOST_SEEDS)
    preset: str = "tiny"
    training: dict[str, Any] = Field(default_factory=dict, description="fields of the run's configuration by path")
    lengths: tuple[str, ...] = ("1x", "2x", "4x", "8x", "16x")
    windows: int | None = Field(None, ge=1, description="stretches scored at each length")
    split: str = "test"


def extrapolate(
    dataset: Dataset, options: ExtrapolateOptions, out: Path, device: str = "auto", progress: Progress = silent
) -> Result:
    """Arms as ordinary runs in `out`/ARM-sSEED (where an interrupted probe goes on), then their NLL by length."""
    asked = MeasureOptions.model_validate(
        {
            "split": options.split,
            "lengths": options.lengths,
            "windows": options.windows,
            "device": str(pick_device(device)),
        }
    )
    # What cannot be scored, or cannot be a model, is refused before any is trained.
    lengths, _, warnings = fitting(dataset, parse(asked.lengths, dataset.window), asked)
    arms = {arm: [run_config(dataset, options, arm, seed) for seed in range(options.seeds)] for arm in options.arms}
    labels = label_arms(read_arms(options.arms), [first for first, *_ in arms.values()])
    for first, *_ in arms.values():
        count(first.model)
        refuse_dense(first.model, lengths[-1])
    return {
        "probe": "extrapolate",
        "unit": "nats per base",
        "split": options.split,
        "dataset_hash": dataset.content_hash,
        "training_length": dataset.window,
        "settings": options.model_dump(mode="json"),
        "warnings": warnings,
        "arms": [
            {
                "arm": label,
                "scheme": configs[0].model.position.name,
                "seeds": [
                    _scored(dataset, config, run_folder(out, arm, config.train.seed), asked, device, progress)
                    for config in configs
                ],
            }
            for label, (arm, configs) in zip(labels, arms.items(), strict=True)
        ],
    }


def _scored(
    dataset: Dataset,
    config: RunConfig,
    folder: Path,
    asked: MeasureOptions,
    device: str,
    progress: Progress,
) -> dict[str, Any]:
    with stop_asked() as stop:
        for step in train(config, folder, resume=True, device=device, dataset=dataset, stop=stop):
            progress(f"training {folder.name}", step.step, step.steps)
    run = open_run(folder)
    found = ensure(run, "lengths", asked, progress=progress)
    best = run.checkpoint()
    return {"seed": config.train.seed, "run": str(folder), "checkpoint": best.name, "lengths": found["lengths"]}


def run_config(dataset: Dataset, options: ExtrapolateOptions, arm: str, seed: int) -> RunConfig:
    """The ordinary configuration of one arm: the preset, the asked changes, the arm's positions, the seed."""
    base = configure(options.preset, str(dataset.path), dataset.content_hash, dataset.window, options.training)
    return of_arm(base, arm, seed=seed)
