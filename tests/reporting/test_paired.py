"""The paired difference is that of the very bases that both models were scored on, or none at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dnagoat.reporting.paired import difference, differences, scored
from dnagoat.reporting.sources import Results, RunResults, read_runs
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
    assert paired.blocks == example.BLOCKS + 1, "blocks begin anew with the second contig"
    # Blocks differ by 0.03 for either model alone; what they share must not widen the interval of the difference.
    assert paired.bounds[1] - paired.bounds[0] < 0.005


def bases(run: RunResults) -> Path:
    (file,) = (run.run.path / "evaluation").glob("bases-test-*.npz")
    return file


def rewrite(file: Path, **changed: Any) -> None:
    with np.load(file) as kept:
        np.savez(file, **{**kept, **changed})


def test_it_is_drawn_in_the_blocks_and_resamples_of_the_result(tmp_path: Path) -> None:
    both = results(tmp_path)
    rope, goat = both.runs
    first = difference(goat, scored(goat, "test"), rope, scored(rope, "test"), "test")
    goat.measures["nll-test"] |= {"block_bases": 500, "resamples": 1000}
    other = difference(goat, scored(goat, "test"), rope, scored(rope, "test"), "test")
    assert first is not None and other is not None
    assert other.blocks == example.BLOCKS * 4
    assert other.bounds != first.bounds
    goat.measures["nll-test"] |= {"resamples": 1500}
    again = difference(goat, scored(goat, "test"), rope, scored(rope, "test"), "test")
    assert again is not None and again.bounds != other.bounds


def test_no_difference_of_other_datasets_or_other_bases(tmp_path: Path) -> None:
    assert differences(results(tmp_path / "data", dataset_hash="e" * 64)) == {}
    both = results(tmp_path / "bases")
    with np.load(bases(both.runs[1])) as kept:
        losses = kept["losses"]
    losses[:10] = np.nan
    rewrite(bases(both.runs[1]), losses=losses)
    assert scored(both.runs[1], "test") is None, "the bases are not those that the result counted"
    assert differences(both) == {}


@pytest.mark.parametrize("what", ["checkpoint", "dataset", "pieces", "tool_version"])
def test_scores_of_another_key_are_not_the_results(what: str, tmp_path: Path) -> None:
    goat = results(tmp_path).runs[1]
    with np.load(bases(goat)) as kept:
        key = json.loads(str(kept["key"]))
    rewrite(bases(goat), key=json.dumps({**key, what: "another"}))
    assert scored(goat, "test") is None


def test_the_right_scores_are_found_beside_those_of_another_checkpoint(tmp_path: Path) -> None:
    goat = results(tmp_path).runs[1]
    own = scored(goat, "test")
    file = bases(goat)
    other = file.with_name("bases-test-00.npz")
    other.write_bytes(file.read_bytes())
    with np.load(file) as kept:
        key, losses = json.loads(str(kept["key"])), kept["losses"]
    rewrite(other, key=json.dumps({**key, "checkpoint": "last"}), losses=losses - 1)
    found = scored(goat, "test")
    assert own is not None and found is not None and np.array_equal(found.sums, own.sums)


def test_damaged_bases_give_no_difference(tmp_path: Path) -> None:
    both = results(tmp_path)
    rope, goat = both.runs
    bases(goat).write_bytes(b"half a file")
    assert difference(goat, scored(goat, "test"), rope, scored(rope, "test"), "test") is None
