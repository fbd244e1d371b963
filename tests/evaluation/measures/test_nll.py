"""The stored result: its numbers agree with each other, and a second call reads what the first computed."""

import math
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from dnagoat.counts import hashed
from dnagoat.errors import DatasetError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring import ladder
from dnagoat.files import read_json
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.loop import train
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000)


def test_numbers_agree(make_run: MakeRun, dataset: Dataset) -> None:
    result = ensure(make_run("goat"), "nll", QUICK)
    tiles = len(dataset.starts("test")) * dataset.window
    known = int((dataset.codes(dataset.starts("test")[0], dataset.starts("test")[-1] + 64) != 4).sum())
    assert (result["count"], result["windows"], result["blocks"]) == (known, tiles // 64, 40)
    assert result["count"] < tiles
    assert result["bits"] == pytest.approx(result["value"] / math.log(2))
    assert result["perplexity"] == pytest.approx(math.exp(result["value"]))
    assert result["interval"][0] < result["value"] < result["interval"][1]
    rungs = [(row["kind"], row["order"]) for row in result["baselines"]]
    assert rungs[:13] == [("markov", k) for k in range(13)]
    assert rungs[13:] == [("backoff", 12), ("hashed", 16), ("mix", None), ("repeats", None)]
    for row in result["baselines"]:
        assert row["gain"] == pytest.approx(row["value"] - result["value"], abs=1e-9)
        assert row["gain_interval"][0] < row["gain"] < row["gain_interval"][1]
    assert result["verdict"]["beats"] is False  # an untrained model
    assert result["torch"] == version("torch")
    order_0 = result["baselines"][0]["value"]
    assert order_0 == pytest.approx(-(0.6 * math.log(0.3) + 0.4 * math.log(0.2)), abs=0.01)


def test_validation_says_that_it_chose_the_checkpoint(make_run: MakeRun) -> None:
    result = ensure(make_run(), "nll", QUICK.but(split="val"))
    assert result["selection"] is True
    assert any("chosen on this split" in said for said in result["warnings"])


def test_it_is_the_value_that_training_saw(make_run: MakeRun, dataset: Dataset, tmp_path: Path) -> None:
    """Training's own validation over all windows and `evaluate` on the checkpoint are one number."""
    config = make_run("goat").config
    quick = config.train.but(steps=3, eval_every=3, checkpoint_every=3, batch_size=2, eval_windows=1000)
    *_, last = train(config.but(train=quick), tmp_path / "trained", device="cpu")
    result = ensure(open_run(tmp_path / "trained"), "nll", QUICK.but(split="val"))
    assert last.val_nll == pytest.approx(result["value"], abs=1e-6)
    assert result["checkpoint"]["step"] == 3


def test_few_blocks_are_a_warning(make_run: MakeRun) -> None:
    result = ensure(make_run(), "nll", QUICK.but(block=1000))
    assert result["blocks"] == 4
    assert any("only 4 blocks" in said for said in result["warnings"])


def test_computed_once(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    first = ensure(run, "nll", QUICK)
    monkeypatch.setattr(Run, "model", lambda *_: pytest.fail("the model was opened again"))
    assert ensure(run, "nll", QUICK) == first == read_json(run.path / "evaluation" / "nll-test.json")
    # Another measure of the same bases, in other blocks, needs no other scores: those of each base are kept.
    other = ensure(run, "strata", QUICK.but(block=200))
    assert (other["count"], other["pieces"]) == (first["count"], first["pieces"])


def test_another_dataset_is_refused(make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run()
    other = Run(run.path, run.config.but(dataset_hash="0" * 64))
    with pytest.raises(DatasetError, match="give the same dataset"):
        ensure(other, "nll", QUICK)


def test_one_that_is_meant_is_scored_apart(make_run: MakeRun, dataset: Dataset, tmp_path: Path) -> None:
    """Another dataset has its own file, hash and warning; the run's own result is not touched."""
    (tmp_path / "other.fa").write_text(f">x\n{'ACGTTGCA' * 400}\n")
    other = prepare(tmp_path / "other.fa", tmp_path / "other", PrepareOptions(window=64, test=("x",)))
    run = make_run()
    own = ensure(run, "nll", QUICK)
    apart = ensure(run, "nll", QUICK.but(other_dataset=other.path))
    assert apart["dataset_hash"] == other.content_hash != own["dataset_hash"]
    assert (run.path / "evaluation" / f"nll-test-{other.content_hash[:8]}.json").exists()
    assert read_json(run.path / "evaluation" / "nll-test.json") == own
    assert any("not trained on" in said for said in apart["warnings"])
    assert apart["baselines"] == []  # it has no training split
    assert str(other.path) in apart["command"]


def test_a_sliding_context_scores_the_same_bases_with_more_before_them(make_run: MakeRun) -> None:
    plain, sliding = (ensure(make_run(), "nll", QUICK.but(stride=s), force=True) for s in (None, 16))
    assert sliding["mean_context"] > plain["mean_context"] == 31.5
    assert sliding["count"] >= plain["count"]
    assert np.isfinite(sliding["value"])


def test_a_base_with_less_context_than_was_asked_for_is_counted(make_run: MakeRun, dataset: Dataset) -> None:
    """The test split is one contig: its first bases alone have fewer than 64 - 16 before them."""
    run = make_run()
    assert ensure(run, "nll", QUICK)["short_context"] == 0
    result = ensure(run, "nll", QUICK.but(stride=16), force=True)
    assert result["short_context"] == 48
    assert result["mean_context"] > 48


def test_a_guard_before_the_split_is_context(make_run: MakeRun, dataset: Dataset, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    (tmp_path / "one.fa").write_text(f">one\n{''.join(rng.choice(list('ACGT'), 20_000))}\n")
    blocks = prepare(tmp_path / "one.fa", tmp_path / "one", PrepareOptions(window=64, split="blocks"))
    result = ensure(make_run(), "nll", QUICK.but(other_dataset=blocks.path, stride=16))
    assert result["short_context"] == 0


def test_a_crowded_table_is_left_out_and_said(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    whole = ensure(run, "nll", QUICK)
    kinds = [row["kind"] for row in whole["baselines"]]
    assert "hashed" in kinds and whole["hashed"]["load"] < 1
    for bits in ("FEWEST_BITS", "MOST_BITS"):
        monkeypatch.setattr(hashed, bits, 12)
    monkeypatch.setattr(ladder, "ANSWERS", {})
    monkeypatch.setattr(ladder, "COUNTED", {})
    crowded = ensure(run, "nll", QUICK, force=True)
    assert [row["kind"] for row in crowded["baselines"]] == [kind for kind in kinds if kind != "hashed"]
    assert crowded["hashed"]["slots"] == 4096 and crowded["hashed"]["load"] > 2
    assert any("order-16, hashed is left out" in text for text in crowded["warnings"])
