"""Scores of windows are those of the model base by base, whatever the batch, and N is never one of them."""

import math

import numpy as np
import pytest
import torch

from dnagoat.evaluation.scoring.likelihood import score, window_scores
from dnagoat.evaluation.scoring.pieces import sliding, stretches
from dnagoat.genome.alphabet import START, N
from dnagoat.genome.dataset import Dataset
from tests.evaluation.conftest import MakeRun


@pytest.mark.parametrize("position", ["rope", "goat"])
def test_each_base_is_scored_given_all_before_it_and_nothing_else(
    make_run: MakeRun, dataset: Dataset, position: str
) -> None:
    model = make_run(position).model()
    codes = dataset.codes(0, 40)[None]
    nats, hits = window_scores(model, codes)
    fed = torch.tensor([[START, *codes[0]]], dtype=torch.int64)
    for i in range(40):
        with torch.no_grad():
            log_p = model(fed[:, : i + 1])[0, -1].log_softmax(-1)
        if codes[0, i] == N:
            assert np.isnan(nats[0, i])
        else:
            assert nats[0, i] == pytest.approx(-log_p[codes[0, i]].item(), abs=1e-5)
            assert hits[0, i] == (log_p.argmax() == codes[0, i])


def test_batch_mates_change_nothing(make_run: MakeRun, dataset: Dataset) -> None:
    model = make_run("goat").model()
    pieces = sliding(stretches(dataset, "test"), 64, 24)
    alone, together = (score(model, dataset.tokens, pieces, bases) for bases in (1, 4096))
    np.testing.assert_allclose(alone.losses, together.losses, atol=2e-6)
    assert np.array_equal(np.isnan(alone.losses), dataset.codes(*stretches(dataset, "test")[0]) == N)


def test_a_uniform_model_costs_two_bits(make_run: MakeRun, dataset: Dataset) -> None:
    model = make_run().model()
    torch.nn.init.zeros_(model.embedding.weight)
    scores = score(model, dataset.tokens, sliding(stretches(dataset, "val"), 64, 64), 4096)
    assert scores.sums().sum() / scores.counts().sum() == pytest.approx(math.log(4), abs=1e-6)


def test_five_classes_are_scored_as_four_without_the_first_base(make_run: MakeRun, dataset: Dataset) -> None:
    model = make_run(classes=5).model()
    codes = dataset.codes(100, 130)[None]
    nats, _ = window_scores(model, codes)
    assert np.isnan(nats[0, 0])
    with torch.no_grad():
        log_p = model(torch.from_numpy(codes[:, :-1].astype(np.int64)))[0, :, :4].log_softmax(-1)
    known = np.flatnonzero(codes[0, 1:] != N)
    expected = [-log_p[i, codes[0, i + 1]].item() for i in known]
    assert nats[0, 1:][known].tolist() == pytest.approx(expected, abs=1e-5)
