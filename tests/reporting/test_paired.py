"""The paired difference is that of the very bases that both models were scored on, or none at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dnagoat.reporting.paired import difference, differences, scored
from dnagoat.reporting.results import Results, read_runs
from tests.reporting import example


def results(folder: Path, **other: object) -> Results:
    paths = [
        example.run(folder / "rope", example.config("rope"), 1.312),
        example.run(folder / "goat", example.config("goat", **other), 1.306),  # type: ignore[arg-type]
    ]
    return Results(read_runs(paths))


def test_it_is_the_difference_of_both_numbers_and_its_interval_is_far_narrower(tmp_path: Path) -> None:
    both = results(tmp_path)
    rope, goat = both.runs
    paired = differences(both)[goat.key]
    numbers = [run.measures["nll-test"]["value"] for run in (goat, rope)]
    assert paired.value == pytest.approx(numbers[0] - numbers[1], abs=1e-7)
    assert paired.bounds[0] < -0.006 < paired.bounds[1] < 0
    assert paired.blocks == example.BLOCKS
    # Blocks differ by 0.03 for either model alone; what they share must not widen the interval of the difference.
    assert paired.bounds[1] - paired.bounds[0] < 0.005


def test_no_difference_of_other_datasets_or_other_bases(tmp_path: Path) -> None:
    assert differences(results(tmp_path / "data", dataset_hash="e" * 64)) == {}
    both = results(tmp_path / "bases")
    file = both.runs[1].run.path / "evaluation" / "bases-test.npz"
    with np.load(file) as kept:
        arrays = dict(kept)
    arrays["losses"][:10] = np.nan
    np.savez(file, **arrays)
    assert scored(both.runs[1], "test") is None, "the bases are not those that the result counted"
    assert differences(both) == {}


def test_damaged_bases_give_no_difference(tmp_path: Path) -> None:
    both = results(tmp_path)
    rope, goat = both.runs
    (goat.run.path / "evaluation" / "bases-test.npz").write_bytes(b"half a file")
    assert difference(goat, scored(goat, "test"), rope, scored(rope, "test"), "test") is None
