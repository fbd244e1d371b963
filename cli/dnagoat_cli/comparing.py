"""The stages of a comparison: tune learning rates where several are given, train every seed, score, judge."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from dnagoat.errors import Stopped

if TYPE_CHECKING:
    from dnagoat.config import RunConfig
    from dnagoat.evaluation.comparison.compare import Arm
    from dnagoat.genome.dataset import Dataset
    from dnagoat_cli.side_by_side import Planned


@dataclass(frozen=True)
class Comparison:
    """What is compared; the first arm is the reference."""

    dataset: Dataset
    base: RunConfig
    arms: tuple[str, ...]
    seeds: tuple[int, ...]
    out: Path
    rates: tuple[float, ...]
    match: bool

    def refuse_mixture(self) -> None:
        """An `OptionError` where two arms are one, a `RunError` where OUT holds what is no run of a comparison."""
        from dnagoat.errors import OptionError, RunError
        from dnagoat.evaluation.comparison.arms import run_folder
        from dnagoat.evaluation.comparison.compare import FILE
        from dnagoat.training.kept.folder import CONFIG
        from dnagoat.training.kept.lock import WRITER

        folders = [run_folder(self.out, arm, self.seeds[0]) for arm in self.arms]
        if len(set(folders)) < len(folders):
            raise OptionError(f"--arm {self.arms[0]} ...: two of the arms are the same one; name each once")
        if self.out.exists() and not self.out.is_dir():
            raise RunError(f"{self.out} is a file; give another --out")
        if self.out.is_dir() and not (self.out / FILE).exists():
            for entry in self.out.iterdir():
                if not any((entry / ours).exists() for ours in (CONFIG, WRITER)):
                    raise RunError(f"{self.out} is a folder with other things in it; give another --out")

    def train(self, *, jobs: int, threads: int, device: str, quiet: bool) -> None:
        """Trains what is missing, the first seed of each arm first: with several rates the others wait for the best."""
        from dnagoat.training.launch.stop import stop_asked
        from dnagoat_cli.side_by_side import train_all

        with stop_asked() as stop:
            stages = (self._tuning, self._others) if len(self.rates) > 1 else (self._all,)
            for stage in stages:
                try:
                    train_all(stage(), jobs=jobs, threads=threads, device=device, stop=stop, quiet=quiet)
                except Stopped as end:
                    said = f"{end.signal.name}: every run is saved; the same command continues {self.out}"
                    Console(stderr=True).print(said, highlight=False, soft_wrap=True)
                    raise

    def judged(self, *, windows: int | None, reach: tuple[float, ...], device: str, quiet: bool) -> dict[str, Any]:
        """Scores and judges, writes comparison.json and returns it."""
        import shlex

        from dnagoat.evaluation.comparison.compare import FILE, compare
        from dnagoat.files import write_json
        from dnagoat.training.launch.processes import pick_device

        with Console(stderr=True, quiet=quiet).status("scoring") as status:
            arms = [self._arm(name) for name in self.arms]
            where = str(pick_device(device))
            result = compare(arms, self.dataset, windows=windows, reach=reach, device=where, progress=status.update)
        result["command"] = shlex.join(["dnagoat", *sys.argv[1:]])
        write_json(self.out / FILE, result)
        return result

    def _tuning(self) -> list[Planned]:
        return [self._planned(arm, self.seeds[0], rate) for rate in self.rates for arm in self.arms]

    def _others(self) -> list[Planned]:
        return [self._planned(arm, seed, self._best(arm)) for seed in self.seeds[1:] for arm in self.arms]

    def _all(self) -> list[Planned]:
        return [*self._tuning(), *self._others()]  # in one go, so that no core waits for the last of a seed

    def _planned(self, arm: str, seed: int, rate: float) -> Planned:
        from dnagoat.evaluation.comparison.arms import of_arm, run_folder
        from dnagoat_cli.side_by_side import Planned

        tuned = rate if len(self.rates) > 1 else None
        config = of_arm(self.base, arm, seed=seed, lr=tuned if tuned else self._given_rate(), match=self.match)
        return Planned(config, run_folder(self.out, arm, seed, tuned))

    def _given_rate(self) -> float | None:
        return self.rates[0] if self.rates[0] != self.base.train.lr else None

    def _best(self, arm: str) -> float:
        """The rate whose first seed has the lowest validation NLL: every arm had the same budget."""
        from dnagoat.evaluation.comparison.compare import best_validation

        if len(self.rates) == 1:
            return self.rates[0]
        return min(self.rates, key=lambda rate: best_validation(self._planned(arm, self.seeds[0], rate).out))

    def _arm(self, name: str) -> Arm:
        from dnagoat.evaluation.comparison.compare import Arm

        runs = [self._planned(name, seed, self._best(name)) for seed in self.seeds]
        return Arm(name, [run.out for run in runs], runs[0].config.train.lr)
