"""A comparison from its arms to its verdict: tune learning rates where several are given, train every seed, judge.

OUT/ARM-sSEED/      ordinary run folders, trained where they are missing, continued where they were begun
OUT/comparison.json the verdict
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError, RunError
from dnagoat.evaluation.comparison.arms import COMPARISON, NamedArm, of_arm, options, run_folder, setting_of
from dnagoat.evaluation.comparison.judgement import Arm, Result, best_validation, judge_arms
from dnagoat.evaluation.comparison.labels import label_arms
from dnagoat.files import read_json, write_json
from dnagoat.folders import may_fill
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.lock import WRITER
from dnagoat.training.kept.run import CONFIG, open_run
from dnagoat.training.launch.processes import pick_device
from dnagoat.training.launch.side_by_side import PlannedRun, train_side_by_side
from dnagoat.training.launch.stop import Stop, never, stopping


@dataclass(frozen=True)
class Comparison:
    """What is compared. The first arm is the reference; with several `rates`, each arm takes the one that is best for
    its first seed on validation, unless it says its own. `match` sizes the MLPs so that all arms are as large as
    RoPE."""

    dataset: Dataset
    base: RunConfig
    arms: Sequence[NamedArm]
    out: Path
    seeds: int = 3
    rates: Sequence[float] = ()
    match: bool = False

    @property
    def tunes(self) -> bool:
        """Whether an arm has rates to choose from."""
        return any(len(self._rates(arm)) > 1 for arm in self.arms)

    @property
    def _seeds(self) -> range:
        return range(self.seeds)

    @property
    def labels(self) -> list[str]:
        """What each arm is called in everything that is shown; an `OptionError` where that does not tell them apart."""
        return label_arms(self.arms, [self._plan(arm, 0, self._only_rate(arm)).config for arm in self.arms])

    def refuse_mixture(self) -> None:
        """An `OptionError` where two arms are one or are called the same, a `RunError` where `out` holds what is no run
        of a comparison, or another arm under the name of one of these."""
        folders = [self._plan(arm, 0, None).out.name.casefold() for arm in self.arms]
        for place, label in enumerate(self.labels):
            if folders[place] in folders[:place]:
                raise OptionError(f"--arm {self.arms[place]}: {label} shares a folder with another; name it otherwise")
        may_fill(self.out, "--out")
        if self.out.is_dir() and not (self.out / COMPARISON).exists():
            for entry in self.out.iterdir():
                if not any((entry / ours).exists() for ours in (CONFIG, WRITER)):
                    raise RunError(f"{self.out} is a folder with other things in it; give another --out")
        for run in self._first_seeds():
            self._refuse_other(run)
        if (self.out / COMPARISON).exists():
            self._refuse_loss()

    def _refuse_loss(self) -> None:
        """A `RunError` where the verdict that is there speaks of runs of which the new one would not."""
        path = self.out / COMPARISON
        plans = product(self.arms, self._seeds)
        known = {self._plan(arm, seed, rate).out.name for arm, seed in plans for rate in self._rates(arm)}
        try:
            judged = [Path(run).name for row in read_json(path)["arms"] for run in row["runs"]]
        except (ValueError, KeyError, TypeError):
            raise RunError(f"{path} is no verdict of this version; move it away, or give another --out") from None
        if lost := ", ".join(name for name in judged if name not in known):
            raise RunError(f"{path} judges {lost} too; name those arms and seeds as well, or give another --out")

    def _refuse_other(self, run: PlannedRun) -> None:
        """A `RunError` where the folder holds another arm, under the same name."""
        if not (run.out / CONFIG).exists():
            return
        here = open_run(run.out).config
        if (other := setting_of(here.but(train=run.config.train))) != (asked := setting_of(run.config)):
            raise RunError(f"{run.out} holds {other}, not {asked}; give the arm another name, or another --out")

    def runs_of(self, arm: NamedArm) -> int:
        """How many runs of an arm are trained: at all rates of the first seed, and at the best of the others."""
        return len(self._rates(arm)) + self.seeds - 1

    def known_runs(self, arm: NamedArm) -> list[PlannedRun]:
        """The runs of an arm whose rate is known before any is trained: all, or the first seed's at every rate."""
        if len(self._rates(arm)) > 1:
            return [self._plan(arm, 0, rate) for rate in self._rates(arm)]
        return [self._plan(arm, seed, self._only_rate(arm)) for seed in self._seeds]

    def stages(self) -> list[Callable[[], list[PlannedRun]]]:
        """What is trained in one go. One rate: everything, so that no core waits for the last of a seed. Several: the
        first seed at every rate, then the others at the best."""
        if self.tunes:
            return [self._first_seeds, self._other_seeds]
        return [lambda: [*self._first_seeds(), *self._other_seeds()]]

    def trained_arms(self) -> list[Arm]:
        """Each arm with its runs at the rate that it was given or that was best for it."""
        arms = []
        for label, arm in zip(self.labels, self.arms, strict=True):
            runs = [self._plan(arm, seed, self._best_rate(arm)) for seed in self._seeds]
            tried = {rate: self._first_validation(arm, rate) for rate in self._rates(arm) if rate is not None}
            arms.append(Arm(label, [run.out for run in runs], runs[0].config.train.lr, tried if len(tried) > 1 else {}))
        return arms

    def _first_seeds(self) -> list[PlannedRun]:
        return [self._plan(arm, 0, rate) for arm in self.arms for rate in self._rates(arm)]

    def _other_seeds(self) -> list[PlannedRun]:
        return [self._plan(arm, seed, self._best_rate(arm)) for seed in range(1, self.seeds) for arm in self.arms]

    def _rates(self, arm: NamedArm) -> Sequence[float | None]:
        """None is the rate of the base, or the arm's own @lr, which counts more than what all arms are given."""
        own = "train.lr" in options(arm.setting)
        return (None,) if own or not self.rates else tuple(dict.fromkeys(self.rates))

    def _only_rate(self, arm: NamedArm) -> float | None:
        """The rate that needs no choice; None too where there are several."""
        rates = self._rates(arm)
        return rates[0] if len(rates) == 1 else None

    def _plan(self, arm: NamedArm, seed: int, rate: float | None) -> PlannedRun:
        config = of_arm(self.base, arm, seed=seed, lr=rate, match=self.match)
        return PlannedRun(config, run_folder(self.out, arm, seed, rate if len(self._rates(arm)) > 1 else None))

    def _best_rate(self, arm: NamedArm) -> float | None:
        """The rate whose first seed has the lowest validation NLL: every arm had the same budget."""
        rates = self._rates(arm)
        return rates[0] if len(rates) == 1 else min(rates, key=lambda rate: self._first_validation(arm, rate))

    def _first_validation(self, arm: NamedArm, rate: float | None) -> float:
        return best_validation(self._plan(arm, 0, rate).out)


def compare(
    comparison: Comparison,
    *,
    windows: int | None = None,
    reach: Sequence[float] = (),
    jobs: int = 1,
    threads: int = 1,
    device: str = "auto",
    command: str | None = None,
    stop: Stop = never,
    progress: Progress = silent,
) -> Result:
    """Trains what is missing, `jobs` runs at once, judges, writes comparison.json and returns its content.

    `windows` are scored of each split, spread evenly (all by default); `reach` are validation NLLs in nats per base,
    of which the result says how many bases each run took to come down to them; `command` is what repeats it, for the
    record. Once `stop` names a signal all runs are saved and `Stopped` is raised; the same call continues. Errors:
    `OptionError` (two equal arms, settings), `RunError` (the folder), `TrainingError` (a run that failed).
    """
    comparison.refuse_mixture()
    for stage in comparison.stages():
        train_side_by_side(stage(), jobs=jobs, threads=threads, device=device, stop=stop, progress=progress)
    result = judge_arms(
        comparison.trained_arms(),
        comparison.dataset,
        windows=windows,
        reach=reach,
        device=str(pick_device(device)),
        progress=stopping(progress, stop),
    )
    if command is not None:
        result["command"] = command
    write_json(comparison.out / COMPARISON, result)
    return result
