"""Copying from context: a planted copier is caught at it, a model that cannot copy gains nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures import copying
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.genome.alphabet import START
from dnagoat.genome.dataset import Dataset
from dnagoat.training.kept.run import Run
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000)
SURE = 6.0  # logit of the base that the copier expects


class Copier(nn.Module):
    """Expects the base that stood `lag` before the next one; before that, nothing."""

    def __init__(self, config: object, lag: int) -> None:
        super().__init__()
        self.config, self.lag = config, lag
        self.embedding = nn.Embedding(1, 1)  # where the device is read from

    def forward(self, inputs: Tensor) -> Tensor:
        logits = torch.zeros(*inputs.shape, 4)
        # Input i is base i - 1, so that the base `lag` before the next one, base i, is input i + 1 - lag.
        seen = nn.functional.pad(inputs, (self.lag - 1, 0), value=START)[:, : inputs.shape[1]]
        known = seen < 4
        logits[known] = SURE * nn.functional.one_hot(seen[known], 4).float()
        return logits


def row(result: dict[str, Any], stretch: str, before: str) -> Any:
    return next(each for each in result["rows"] if (each["stretch"], each["before"]) == (stretch, before))


def test_a_copier_pays_for_another_stretch_and_not_for_a_copy(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    model = Copier(run.config.model, lag=32)
    monkeypatch.setattr(Run, "model", lambda *_: model)
    result = ensure(run, "copying", QUICK)
    sure = np.log(np.exp(SURE) + 3) - SURE
    for stretch in ("real", "random"):
        copied, other = row(result, stretch, "its copy"), row(result, stretch, "another stretch")
        assert copied["value"] == pytest.approx(sure, abs=0.05)  # an N is expected to be no base: 1.386 nats there
        assert copied["gain"] == pytest.approx(other["value"] - copied["value"])
        assert copied["gain_interval"][0] > 3
        assert abs(row(result, stretch, "its reverse complement")["gain"]) < 1  # the wrong strand is no copy
    assert row(result, "random", "its copy")["value"] == pytest.approx(sure, abs=1e-5)


def test_a_model_that_forgets_gains_nothing(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    model = run.model()
    nn.init.zeros_(model.embedding.weight)
    monkeypatch.setattr(Run, "model", lambda *_: model)
    result = ensure(run, "copying", QUICK)
    assert all(
        each["value"] == pytest.approx(np.log(4), abs=1e-6) and abs(each["gain"]) < 1e-6 for each in result["rows"]
    )


def test_values_are_those_of_the_second_half_of_the_window(make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run("goat")
    result = ensure(run, "copying", QUICK)
    sums, count = 0.0, 0
    for start in map(int, dataset.starts("test")):
        codes = dataset.codes(start + 32, start + 64)[None]
        nats = window_scores(run.model(), np.concatenate([codes, codes], axis=1))[0][:, 32:]
        sums, count = sums + float(np.nansum(nats)), count + int((codes < 4).sum())
    copied = row(result, "real", "its copy")
    assert copied["value"] == pytest.approx(sums / count, abs=1e-5)
    assert (copied["count"], copied["length"]) == (count, 32)
    assert (result["value"], result["interval"]) == (copied["gain"], copied["gain_interval"])


def test_two_stretches_must_fit(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "SHORTEST", 64)
    with pytest.raises(OptionError, match="two stretches of 64 bases do not fit a context of 64"):
        ensure(make_run(), "copying", QUICK)
