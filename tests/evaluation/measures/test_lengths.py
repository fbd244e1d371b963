"""Context past training: the same bases in each row, streaming equal to one pass, dense attention refused."""

import numpy as np
import pytest

from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures.lengths import parse, refuse_dense
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.genome.dataset import Dataset
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000, lengths=("1x", "2x", "8x"), windows=5)


@pytest.mark.parametrize("position", ["goat", "rope", "rope+bias", "sinusoidal", "alibi"])
def test_streaming_through_the_cache_is_one_pass(make_run: MakeRun, dataset: Dataset, position: str) -> None:
    model = make_run(position).model()
    codes = dataset.codes(0, 600).reshape(2, 300)
    whole, hits = window_scores(model, codes)
    pieces, same = window_scores(model, codes, at_once=64)
    np.testing.assert_allclose(pieces, whole, atol=1e-5)
    assert np.array_equal(same, hits)


def test_rows_score_the_same_bases_with_more_before_them(make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run("goat")
    result = ensure(run, "lengths", QUICK)
    assert [row["length"] for row in result["lengths"]] == [64, 128, 512]
    assert [row["mean_context"] for row in result["lengths"]] == [47.5, 111.5, 495.5]
    assert result["lengths"][0]["gain"] == 0
    # By hand: stretches of 512 end to end from the split's first window; the last 32 bases of each are scored.
    start, model = int(dataset.starts("test")[0]), run.model()
    every = [start + 512 * (place + 1) for place in range((62 * 64) // 512)]
    ends = [every[place] for place in np.linspace(0, len(every) - 1, 5).round().astype(int)]
    for row in result["lengths"]:
        codes = np.stack([dataset.codes(end - row["length"], end) for end in ends])
        nats = window_scores(model, codes)[0][:, -32:]
        assert row["value"] == pytest.approx(np.nanmean(nats), abs=1e-5)
        assert row["count"] == np.count_nonzero(~np.isnan(nats))
        assert row["gain"] == pytest.approx(result["lengths"][0]["value"] - row["value"], abs=1e-9)
    assert [(bin_["from"], bin_["to"]) for bin_ in result["positions"]] == [(s, s + 32) for s in range(0, 512, 32)]
    assert result["positions"][-1]["value"] == pytest.approx(result["lengths"][-1]["value"], abs=1e-6)


def test_lengths_without_room_are_left_out_and_said(make_run: MakeRun) -> None:
    result = ensure(make_run(), "lengths", QUICK.but(lengths=("64", "100000")))
    assert [row["length"] for row in result["lengths"]] == [64]
    assert any("100,000 bases are left out" in said for said in result["warnings"])
    with pytest.raises(OptionError, match="no stretch of the test split"):
        ensure(make_run(seed=1), "lengths", QUICK.but(lengths=("100000",)))


def test_lengths_as_written() -> None:
    assert parse(["16x", "1x", "4096", "2X", "1024"], 1024) == [1024, 2048, 4096, 16384]
    for wrong in ("x", "0x", "-5", "many", "1"):
        with pytest.raises(OptionError, match="--lengths"):
            parse([wrong], 1024)


def test_dense_attention_is_refused(make_run: MakeRun) -> None:
    config = make_run().config.model
    refuse_dense(config, 10**6)
    for dense in (config.but(kernel="dense"), config.but(normaliser="sparsemax")):
        with pytest.raises(OptionError, match="quadratic"):
            refuse_dense(dense, 10**6)
