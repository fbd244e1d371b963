"""The learned prior's curves: ALiBi's slopes, planted parts of GOAT, and nothing where there is no prior."""

from typing import Any

import numpy as np
import pytest
import torch

from dnagoat.evaluation.measures import prior
from dnagoat.evaluation.results import ensure
from dnagoat.training.kept.run import Run
from tests.evaluation.conftest import MakeRun


def test_alibi_is_a_line(make_run: MakeRun) -> None:
    result = ensure(make_run("alibi"), "prior")
    for layer in result["layers"]:
        for head in layer["heads"]:
            line = -head["slope"] * np.array(result["distances"])
            np.testing.assert_allclose(head["log_prior"], line, rtol=1e-4, atol=1e-6)
            assert head["sink"] is None


def test_planted_parts_are_found_apart(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run("goat")
    model = run.model()
    parts: Any = list(model.attentions())[1].scheme.parts
    with torch.no_grad():
        for parameter in parts.parameters():
            parameter.zero_()
        parts["spectral"].even[0, 0] = 2.0  # a period of 3 bases in head 0
        parts["recency"].slopes[1] = 0.25
        parts["sink"].first[1] = 5.0
    monkeypatch.setattr(Run, "model", lambda *_: model)
    heads = ensure(run, "prior")["layers"][1]["heads"]
    d = np.arange(64)
    np.testing.assert_allclose(heads[0]["log_prior"], 2 * np.cos(2 * np.pi * d / 3) - 2, atol=1e-4)
    np.testing.assert_allclose(heads[0]["spectral"], 2 * np.cos(2 * np.pi * d / 3), atol=1e-4)
    np.testing.assert_allclose(heads[1]["log_prior"], -0.25 * d, atol=1e-4)
    assert heads[1]["sink"] == pytest.approx([5.0] + 63 * [0.0])
    assert [head["slope"] for head in heads] == [0, 0.25]


def test_biases_of_rope_are_a_prior_of_waves(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run("rope+bias")
    model = run.model()
    scheme: Any = list(model.attentions())[1].scheme
    with torch.no_grad():
        for bias in (scheme.query_bias, scheme.key_bias):
            bias.zero_()
            bias[0, 0] = 4.0  # of the first pair, which turns with a period of 3 bases
    monkeypatch.setattr(Run, "model", lambda *_: model)
    found = ensure(run, "prior")
    first, second = found["layers"][1]["heads"]
    wave = 16 / scheme.root * np.cos(2 * np.pi * np.arange(64) / 3)
    np.testing.assert_allclose(first["spectral"], wave, atol=1e-4)
    np.testing.assert_allclose(first["log_prior"], wave - wave[0], atol=1e-4)
    assert first["initial"] != first["log_prior"] and first["sink"] is None and first["slope"] is None
    assert not any(second["log_prior"])


@pytest.mark.parametrize("position", ["nope", "rope", "sinusoidal"])
def test_no_prior_no_curves(make_run: MakeRun, position: str) -> None:
    assert ensure(make_run(position), "prior")["layers"] == []


def test_distances_are_whole_near_and_spaced_far() -> None:
    distances = prior.spaced(100_000)
    assert distances[:512] == list(range(512))
    assert distances[-1] == 99_999
    assert len(distances) < 800
    assert prior.spaced(10) == list(range(10))
