"""What the memory of a training split will take, from its stretches alone: nothing of it is read."""

from __future__ import annotations

from dataclasses import dataclass

from dnagoat.counts.memory.tables import A_BASE, BUDGET, FIXED, chosen_stretches, is_built
from dnagoat.genome.dataset import Dataset

SECONDS_A_BASE = 0.5e-6  # of one core, as benchmarks/counting.py measures it


@dataclass(frozen=True)
class MemoryCost:
    """Bytes of the tables, on disk and mapped (building them takes as much memory), and seconds of one core.

    `held` and `left_out` are bases of the training split; `built` says that it has been counted already.
    """

    bytes: int
    seconds: float
    held: int
    left_out: int
    built: bool


def plan_memory(dataset: Dataset, budget: float = BUDGET) -> MemoryCost:
    """What counting a dataset's training split within `budget` GB costs; a `DatasetError` where that is too little."""
    stretches, left_out = chosen_stretches(dataset, budget)
    held = int((stretches[:, 1] - stretches[:, 0]).sum())
    return MemoryCost(int(FIXED + A_BASE * held), SECONDS_A_BASE * held, held, left_out, is_built(dataset))
