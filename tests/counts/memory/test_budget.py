"""What is planned is what is built, within the budget, also for genomes that are not here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dnagoat.counts.memory.budget import SECONDS_A_BASE, plan_memory
from dnagoat.counts.memory.tables import FIXED, MOST_BASES, Memory
from dnagoat.genome.dataset import Dataset


def genome(bases: int, tmp_path: Any) -> Any:
    """Of a genome that is not here its stretches are all that a plan asks for."""
    quarters = np.linspace(0, bases, 5).astype(np.int64)
    return SimpleNamespace(path=tmp_path, spans=lambda split: np.stack([quarters[:-1], quarters[1:]], axis=1))


def test_planned_bytes_are_those_on_disk(dataset: Dataset, memory: Memory) -> None:
    planned = plan_memory(dataset)
    assert planned.built and planned.left_out == 0
    assert planned.held == int((dataset.spans("train") @ [-1, 1]).sum())
    on_disk = sum(file.stat().st_size for file in memory.path.iterdir())
    # The small genome's N, edges and headers of files weigh more than they would in a large one.
    assert planned.bytes - FIXED == pytest.approx(on_disk - FIXED, rel=0.25)


@pytest.mark.parametrize("budget", [1.0, 8.0, 40.0, 1000.0])
def test_a_whole_genome_is_planned_within_its_budget(tmp_path: Any, budget: float) -> None:
    planned = plan_memory(genome(3_100_000_000, tmp_path), budget)
    assert planned.bytes <= budget * 1e9 and planned.held <= MOST_BASES and not planned.built
    assert planned.held + planned.left_out == 3_100_000_000
    assert planned.held == MOST_BASES or planned.bytes > 0.98 * budget * 1e9 or planned.held > 0.99 * MOST_BASES
    assert planned.seconds == pytest.approx(planned.held * SECONDS_A_BASE)
