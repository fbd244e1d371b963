"""What a comparison would train, how long that takes, and what it writes: said before anything is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from dnagoat.evaluation.comparison.arms import COMPARISON
from dnagoat.progress import Progress, silent
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.plan import RunCost, plan, with_speed

if TYPE_CHECKING:
    from dnagoat.evaluation.comparison.arms import NamedArm
    from dnagoat.evaluation.comparison.experiment import Comparison
    from dnagoat.training.launch.side_by_side import PlannedRun


@dataclass(frozen=True)
class ArmForecast:
    """One arm: its runs, how many of them are done, the steps that all have left, and what one of them costs.

    `hours` are of training alone, one run after another.
    """

    label: str
    setting: str
    runs: int
    done: int
    steps_left: int
    cost: RunCost
    hours: float


@dataclass(frozen=True)
class Forecast:
    """All arms, the folders and files that training would write, and the hours with `jobs` runs side by side."""

    arms: list[ArmForecast]
    files: list[str]
    jobs: int
    device: str

    @property
    def hours(self) -> float:
        waiting = sum(arm.runs - arm.done for arm in self.arms)
        return sum(arm.hours for arm in self.arms) / max(1, min(self.jobs, waiting))


def foresee(
    comparison: Comparison, *, jobs: int, threads: int, device: torch.device, progress: Progress = silent
) -> Forecast:
    """Writes nothing, and trains nothing but the few steps of noise that each arm's speed is measured over.

    Errors are those of the comparison itself.
    """
    comparison.refuse_mixture()
    runs = [comparison.known_runs(arm) for arm in comparison.arms]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        arms = [
            _of_arm(comparison, label, arm, own, device, progress)
            for label, arm, own in zip(comparison.labels, comparison.arms, runs, strict=True)
        ]
    finally:
        torch.set_num_threads(before)
    files = [str(comparison.out / COMPARISON), *(f"{run.out}/" for own in runs for run in own)]
    return Forecast(arms, files, jobs, str(device))


def _of_arm(
    comparison: Comparison,
    label: str,
    arm: NamedArm,
    runs: Sequence[PlannedRun],
    device: torch.device,
    progress: Progress,
) -> ArmForecast:
    config = runs[0].config
    progress(f"measuring the speed of {label}", 0, 0)
    cost = with_speed(plan(config, device, Execution(), dataset=comparison.dataset), config, device)
    later = comparison.runs_of(arm) - len(runs)  # whose rate the first seeds choose
    left = sum(config.train.steps - run.step for run in runs) + later * config.train.steps
    bases = left * config.train.batch_size * config.model.context
    speed = cost.tokens_per_second or float("nan")
    done = sum(run.done for run in runs)
    return ArmForecast(label, arm.setting, len(runs) + later, done, left, cost, bases / speed / 3600)
