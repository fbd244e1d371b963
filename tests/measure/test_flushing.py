"""Whatever computes with a model flushes subnormal numbers, in this process and in those that it starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dnagoat.attention.fast.subnormals import subnormals
from dnagoat.attention.kernels import sdpa
from dnagoat.attention.proof import parity
from dnagoat.config import ModelConfig
from dnagoat.evaluation.measure import Measure, MeasureOptions
from dnagoat.evaluation.probes.finished import Row
from dnagoat.evaluation.probes.sweep import Sweep
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.generation.continuation import generate
from dnagoat.measure.benchmark import run
from dnagoat.measure.environment import environment
from dnagoat.measure.job import grid
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.presets import preset


@pytest.fixture(autouse=True)
def _is_left_as_it_was() -> Iterator[None]:
    assert subnormals() == "kept"
    yield
    assert subnormals() == "kept"


@pytest.fixture
def found() -> list[str]:
    return []


@pytest.fixture
def model(found: list[str]) -> DnaLM:
    """A model that notes at every forward pass what becomes of subnormal numbers."""
    made = DnaLM(ModelConfig(width=64, heads=1, layers=1, mlp_width=32)).eval()
    made.norm.register_forward_hook(lambda *_: found.append(subnormals()))
    return made


def test_scoring(model: DnaLM, found: list[str]) -> None:
    window_scores(model, np.zeros((1, 9), np.uint8))
    assert found == ["flushed"]


def test_generation(model: DnaLM, found: list[str]) -> None:
    for _ in generate(model, [np.zeros(5, np.uint8)], 3, progress=lambda _: found.append(subnormals())):
        assert subnormals() == "kept"  # between batches the caller's own numbers are its own affair
    assert set(found) == {"flushed"}


def test_measures() -> None:
    measure = Measure("none", "What becomes of subnormal numbers?", "", lambda *asked: {"found": subnormals()})
    assert measure(None, MeasureOptions(), silent) == {"found": "flushed"}  # type: ignore[arg-type]


def noted(unit: tuple[str], progress: Progress) -> Row:
    return {"found": subnormals()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_probes_in_this_process_and_side_by_side(tmp_path: Path, jobs: int) -> None:
    rows = Sweep(tmp_path, jobs=jobs).run({}, [("rope",), ("goat",)], noted, silent)
    assert [row["found"] for row in rows.values()] == ["flushed"] * 2


def test_the_processes_of_a_benchmark() -> None:
    config, train = preset("tiny")
    small = config.but(width=64, heads=1, layers=1, mlp_width=32)
    asked = {"whats": ["train"], "arms": ["alibi"], "lengths": [32], "batches": [1], "precisions": ["fp32"]}
    (job,) = grid(small, train, **asked, kernels=["auto"], device="cpu", warmup=0, repeats=1)  # type: ignore[arg-type]
    assert run(job)["subnormals"] == "flushed"


def test_the_self_test_and_what_info_says(found: list[str]) -> None:
    def kernel(*asked: object) -> object:
        found.append(subnormals())
        return sdpa(*asked)  # type: ignore[arg-type]

    parity.layer_errors(parity.Subject("alibi"), 16, 1, "cpu", kernel)  # type: ignore[arg-type]
    assert found == ["flushed"]
    assert environment()["subnormals"] == "flushed"
