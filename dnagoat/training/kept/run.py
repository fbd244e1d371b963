"""What a run folder holds and how it is opened: configuration, metrics, checkpoints, results.

config.json  metrics.jsonl  checkpoints/step-NNNNNN/  best  last  evaluation/*.json  generated/*.fa  report/
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from dnagoat.config import RunConfig
from dnagoat.errors import DatasetError, OptionError, RunError
from dnagoat.files import read_json
from dnagoat.folders import may_fill, why_not_writable

if TYPE_CHECKING:
    import torch

    from dnagoat.counts.memory.reading import Reader
    from dnagoat.genome.dataset import Dataset
    from dnagoat.model.transformer import DnaLM

Which = Literal["best", "last"]

CONFIG, METRICS, SUMMARY = "config.json", "metrics.jsonl", "summary.json"
STATE = "state.json"  # of a checkpoint


@dataclass(frozen=True)
class Run:
    """An opened run folder; nothing heavy is read until it is asked for.

    `results` is a folder that takes this run's results instead of RUN/evaluation, for a run that cannot be written.
    """

    path: Path
    config: RunConfig
    results: Path | None = None
    _found: dict[str, Dataset] = field(default_factory=dict, repr=False, compare=False)  # where it lies now

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def evaluations(self) -> tuple[Path, ...]:
        """The folders in which results lie: first the one that new ones go to, last RUN/evaluation."""
        own = self.path / "evaluation"
        if self.results is None:
            return (own,)
        # By its path, since many a run is called `goat`.
        where = sha256(os.fsencode(self.path.resolve())).hexdigest()[:8]
        return self.results / f"{self.name}-{where}", own

    def result_file(self, name: str) -> Path:
        """The file of a result that is there, or where it would be kept."""
        files = [folder / name for folder in self.evaluations]
        return next((file for file in files if file.exists()), files[0])

    def require_room(self) -> None:
        """A `RunError` where no result can be kept: said before it is computed."""
        folder = self.evaluations[0]
        if (why := why_not_writable(folder)) is None:
            return
        if self.results is not None:
            raise RunError(f"{self.results} cannot be written ({why}); give another --results")
        raise RunError(
            f"{self.path} cannot be written ({why}), and results are kept there; give --results DIR to keep them "
            "elsewhere"
        )

    def metrics(self) -> list[dict[str, Any]]:
        """The rows of metrics.jsonl, oldest first, but a last line that is being written or was cut short by a kill."""
        file = self.path / METRICS
        if not file.exists():
            return []
        try:
            rows = [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1] if line]
        except ValueError:
            rows = [None]
        if not all(isinstance(row, dict) for row in rows):
            raise RunError(f"{file} is damaged: a line is no JSON object; remove the line, or train the run again")
        return rows

    def checkpoint(self, which: Which = "best") -> Path:
        """The folder of the best (on validation) or the last checkpoint."""
        pointer = self.path / which
        if not pointer.exists():
            if which == "best" and (self.path / "last").exists():
                raise RunError(
                    f"{self.path} was never validated (no validation split, or stopped before its first validation), "
                    "so that no checkpoint is its best; ask for the last one, as in "
                    "`dnagoat evaluate --checkpoint last`"
                )
            raise RunError(f"{self.path} has no {which} checkpoint yet; continue it with `dnagoat train --resume`")
        return self.path / "checkpoints" / Path(pointer.read_text(encoding="utf-8", errors="replace").strip()).name

    def dataset_path(self, at: Path | None = None) -> Path | None:
        """Where its dataset lies: `at`, as it was given, from the run's folder, or from the root; None where nowhere.

        The folder with the run's content goes before one that has taken its place.
        """
        from dnagoat.genome.dataset import content_of

        if at is not None:
            return at
        places = [Path(self.config.dataset), *(self.path / place for place in self.config.dataset_places)]
        there = {place: content for place in places if (content := content_of(place)) is not None}
        return next((place for place in there if there[place] == self.config.dataset_hash), next(iter(there), None))

    def dataset(self, at: Path | None = None, *, other: bool = False) -> Dataset:
        """The dataset that this run was trained on; another content hash is refused unless `other`.

        Where it was found once, as with `at`, it is not looked for again.
        """
        from dnagoat.genome.dataset import open_dataset

        if at is None and "dataset" in self._found:
            return self._found["dataset"]
        place = self.dataset_path(at)
        if place is None:
            raise DatasetError(
                f"{self.path} was trained on {self.config.dataset}, which is not there; say where it lies now with "
                "--dataset DATASET"
            )
        dataset = open_dataset(place)
        if dataset.content_hash != self.config.dataset_hash and not other:
            raise DatasetError(
                f"{dataset.path} has content {dataset.content_hash[:12]}, but {self.path} was trained on "
                f"{self.config.dataset_hash[:12]}; give the same dataset, or say that another is meant "
                "(`dnagoat evaluate --other-dataset`)"
            )
        if dataset.content_hash == self.config.dataset_hash:
            self._found["dataset"] = dataset
        return dataset

    def model(self, which: Which = "best", device: torch.device | str = "cpu") -> DnaLM:
        """The model with the weights of a checkpoint, in evaluation mode."""
        from dnagoat.training.kept.checkpoint import load_model

        model = load_model(self.checkpoint(which), self.config.model, device)
        if model.memory is not None:
            model.memory.reader = self._reader
        return model

    @cached_property
    def _opened(self) -> Reader:
        from dnagoat.counts.memory.opening import open_reader

        return open_reader(self.config.model.memory, self.dataset(), expected=self.config.memory_tables)

    def _reader(self) -> Reader:
        """What looks things up in the training split that this run was trained on, opened when it is first asked."""
        return self._opened


def open_run(path: Path, results: Path | None = None) -> Run:
    """Opens a run folder; a `RunError` says what is wrong with one that is none. Its results go to `results`."""
    if results is not None:
        may_fill(results, "--results")
    file = path / CONFIG
    if not path.is_dir():
        raise RunError(f"{path} is not a folder; give the folder that `dnagoat train --out` wrote")
    if not file.exists():
        raise RunError(f"{path} holds no config.json and so is not a run; give a folder that `dnagoat train` wrote")
    try:
        return Run(path, RunConfig.model_validate(read_json(file)), results)
    except (ValueError, ValidationError) as fault:
        raise RunError(f"{file} cannot be read as a run's configuration ({type(fault).__name__})") from None
    except OptionError as fault:
        raise RunError(f"{file} cannot be read as a run's configuration: {fault}") from None
