"""What does a model lose whose memory is left out? Measured once for a checkpoint, on validation windows.

RUN/evaluation/without-memory.json    the numbers, and the checkpoint, dataset and tables of which they hold
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dnagoat.errors import DatasetError, WindowError
from dnagoat.files import read_json, write_json
from dnagoat.folders import why_not_writable
from dnagoat.progress import Progress, relabelled
from dnagoat.training.kept.run import Run, Which
from dnagoat.wording import counted

if TYPE_CHECKING:
    from dnagoat.genome.dataset import Dataset
    from dnagoat.model.transformer import DnaLM

FILE: Final = "without-memory.json"
FORMAT: Final = 1
WINDOWS: Final = 256  # validation windows
GUESS: Final = math.log(4)  # nats of a base of which nothing is known


@dataclass(frozen=True)
class MemoryCost:
    """Nats a base with memory and of the transformer alone, and the 95 % interval of their difference, None from a
    single block; on so many validation bases."""

    with_memory: float
    without: float
    interval: list[float] | None
    bases: int

    @property
    def sentence(self) -> str:
        sure = "" if self.interval is None else f" (95 % {self.interval[0]:+.4f} to {self.interval[1]:+.4f})"
        cost, where = f"{self.without - self.with_memory:+.4f}", counted(self.bases, "validation base")
        said = (
            f"memory is left out, which costs {cost} nats a base{sure}: {self.without:.4f} without it, "
            f"{self.with_memory:.4f} with it, on {where}"
        )
        if self.without <= GUESS:
            return said
        return f"{said}; that is worse than a guess among four bases, {GUESS:.4f}: this transformer needs its memory"


def memory_cost(run: Run, which: Which, alone: DnaLM, device: str, progress: Progress) -> MemoryCost | None:
    """What is kept of this very checkpoint, or measured and kept, where the run can be written; None where the dataset
    has no validation window. `alone` is the run's transformer."""
    from dnagoat.training.kept.checkpoint import model_sha256

    key = {
        "format": FORMAT,
        "checkpoint": model_sha256(run.checkpoint(which)),
        "dataset_hash": run.config.dataset_hash,
        "memory_tables": run.config.memory_tables,
    }
    file = run.result_file(FILE)
    if (found := _kept(file, key)) is not None:
        return found
    try:
        data = run.dataset()
    except DatasetError as fault:
        raise DatasetError(f"what leaving out memory costs is measured on validation windows: {fault}") from None
    try:
        found = _measure(run.model(which), alone, data, device, progress)
    except WindowError:
        return None
    if why_not_writable(run.evaluations[0]) is None:
        write_json(run.evaluations[0] / FILE, {**key, **asdict(found)})
    return found


def _kept(file: Path, key: dict[str, Any]) -> MemoryCost | None:
    try:
        found = read_json(file)
        if {name: found[name] for name in key} == key:
            return MemoryCost(*(found[name] for name in MemoryCost.__dataclass_fields__))
    except (OSError, ValueError, KeyError, TypeError):
        pass  # there is none, or a damaged one, which is measured anew
    return None


def _measure(whole: DnaLM, alone: DnaLM, data: Dataset, device: str, progress: Progress) -> MemoryCost:
    from dnagoat.evaluation.measure import MeasureOptions
    from dnagoat.evaluation.scoring.intervals import block_bootstrap, listed
    from dnagoat.evaluation.scoring.likelihood import score
    from dnagoat.evaluation.scoring.pieces import blocks_of
    from dnagoat.evaluation.scoring.scored import pieces_of
    from dnagoat.training.launch.processes import pick_device

    options, place = MeasureOptions(split="val", windows=WINDOWS), pick_device(device)
    pieces = pieces_of(data, options)
    with_memory, without = (
        score(
            model.to(place),
            data.tokens,
            pieces,
            options.batch_bases(data.window),
            relabelled(progress, f"validation windows {how} memory"),
        )
        for model, how in ((whole, "with"), (alone, "without"))
    )
    alone.to("cpu")
    counts = with_memory.counts()
    more = without.sums() - with_memory.sums()
    interval = listed(block_bootstrap(more, counts, blocks_of(data, pieces, options.block), options.resamples))
    bases = float(counts.sum())
    return MemoryCost(with_memory.sums().sum() / bases, without.sums().sum() / bases, interval, int(bases))
