"""The curve of how far ahead a model is: the difference on validation after as many bases, seed by seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dnagoat.config import RunConfig
from dnagoat.reporting.contents import compare_runs
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.sections.lead import lead
from dnagoat.reporting.sources import Results, read_runs
from tests.reporting import example


def drawn(folder: Path, runs: dict[str, tuple[RunConfig, float]]) -> Figure | None:
    """Of runs that end at these NLL; their validation is the same curve, moved."""
    paths = [example.run(folder / name, *given, missing=example.MEASURES) for name, given in runs.items()]
    results = Results(read_runs(paths, [name.split("-")[0] for name in runs]))
    return lead(results, compare_runs(results))


def curves(figure: Figure) -> list[list[float]]:
    """The differences of each line but the first arm's own, which is 0."""
    return [np.asarray(line.get_ydata()).tolist() for line in figure.drawing.axes[0].lines[1:]]


def test_each_seed_is_compared_with_the_first_arms_of_its_own(tmp_path: Path) -> None:
    ends = {"rope-s0": 1.31, "rope-s1": 1.33, "goat-s0": 1.29, "goat-s1": 1.32}
    runs = {name: (example.config(name[:4], seed=int(name[-1])), end) for name, end in ends.items()}
    figure = drawn(tmp_path, runs)
    assert figure is not None
    first, second = curves(figure)
    assert first == pytest.approx([-0.02] * 6) and second == pytest.approx([-0.01] * 6), "every 50 of 300 steps"
    assert "goat (seed 0) ended at −0.0200 and goat (seed 1) ended at −0.0100" in figure.alt
    assert figure.drawing.axes[0].get_ylabel() == "NLL minus rope's (nats per base)"


def test_only_what_was_validated_after_as_many_bases_is_compared(tmp_path: Path) -> None:
    runs = {"rope": (example.config("rope"), 1.31), "goat": (example.config("goat", steps=170), 1.31)}
    figure = drawn(tmp_path, runs)
    assert figure is not None
    (curve,) = curves(figure)
    assert len(curve) == 3, "after 50, 100 and 150 steps, not after 170"


def test_other_windows_or_too_few_points_are_no_curve(tmp_path: Path) -> None:
    short = example.config("goat", steps=100)
    other = example.config("goat")
    other = other.model_copy(update={"train": other.train.model_copy(update={"eval_windows": 3})})
    for place, goat in enumerate((short, other, example.config("goat", seed=1))):
        assert drawn(tmp_path / str(place), {"rope": (example.config("rope"), 1.31), "goat": (goat, 1.3)}) is None
