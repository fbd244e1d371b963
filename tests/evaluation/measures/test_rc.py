"""Both strands: no gap where a model cannot tell them apart, and the very gap of a model that can."""

import numpy as np
import pytest
import torch

from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.genome.alphabet import reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.training.kept.run import Run
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000)


def test_a_uniform_model_has_no_gap(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    model = run.model()
    torch.nn.init.zeros_(model.embedding.weight)
    monkeypatch.setattr(Run, "model", lambda *_: model)
    result = ensure(run, "rc", QUICK)
    assert result["value"] == pytest.approx(0, abs=1e-6)
    assert result["rc_average"]["value"] == pytest.approx(np.log(4), abs=1e-6)


def test_gaps_are_those_of_the_windows(make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run("goat")
    result = ensure(run, "rc", QUICK)
    model, gaps, sums = run.model(), [], []
    for start in dataset.starts("test"):
        codes = dataset.codes(int(start), int(start) + 64)[None]
        forward, reverse = (window_scores(model, strand)[0] for strand in (codes, reverse_complement(codes)))
        gaps.append(np.nanmean(forward) - np.nanmean(reverse))
        sums.append(np.nansum(forward) + np.nansum(reverse))
    assert result["value"] == pytest.approx(np.mean(np.abs(gaps)), abs=1e-5)
    assert result["signed"]["value"] == pytest.approx(np.mean(gaps), abs=1e-5)
    middle = next(row["value"] for row in result["quantiles"] if row["q"] == 0.5)
    assert middle == pytest.approx(np.median(gaps), abs=1e-5)
    assert result["rc_average"]["value"] == pytest.approx(sum(sums) / 2 / result["count"], abs=1e-5)
    assert result["interval"][0] < result["value"] < result["interval"][1]


def test_five_classes_score_the_same_bases_on_both_strands(make_run: MakeRun, dataset: Dataset) -> None:
    result = ensure(make_run(classes=5), "rc", QUICK)
    known = sum(int((dataset.codes(s + 1, s + 63) < 4).sum()) for s in map(int, dataset.starts("test")))
    assert result["count"] == known
