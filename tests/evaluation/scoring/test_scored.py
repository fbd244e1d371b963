"""Scores of single bases are kept once for each checkpoint, dataset and choice of pieces, and are found again."""

from pathlib import Path

import numpy as np
import pytest

from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.pieces import blocks_of
from dnagoat.evaluation.scoring.scored import identity, pieces_of, scores_of
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.reporting.paired import difference, scored
from dnagoat.reporting.sources import read_runs
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run
from tests.evaluation.conftest import MakeRun

QUICK = MeasureOptions(block=100, resamples=1000)


def kept(run: Run) -> list[Path]:
    return sorted((run.path / "evaluation").glob("bases-*.npz"))


def test_other_pieces_checkpoints_and_datasets_lie_beside(make_run: MakeRun, dataset: Dataset, tmp_path: Path) -> None:
    """Nothing that is scored later takes the place of the scores that the test NLL was made from."""
    run = make_run()
    ensure(run, "nll", QUICK)
    (own,) = kept(run)
    before = own.read_bytes()
    (tmp_path / "other.fa").write_text(f">x\n{'ACGTTGCA' * 400}\n")
    other = prepare(tmp_path / "other.fa", tmp_path / "other", PrepareOptions(window=64, test=("x",)))
    save(
        run.path,
        Checkpoint(TrainingState(step=2, best_step=1, best_val_nll=1.4), weights_of(DnaLM(run.config.model, 7))),
        keep=2,
    )
    scores_of(run, dataset, QUICK.but(windows=5))
    scores_of(run, dataset, QUICK.but(stride=16))
    scores_of(run, dataset, QUICK.but(which="last"))
    scores_of(run, other, QUICK.but(other_dataset=other.path))
    assert len(kept(run)) == 5 and own.read_bytes() == before
    (read,) = read_runs([run.path])
    found = scored(read, "test")
    assert found is not None
    assert found.sums.sum() / found.counts.sum() == pytest.approx(read.measures["nll-test"]["value"], abs=1e-9)


def test_scores_are_read_back(make_run: MakeRun, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    first = scores_of(run, dataset, QUICK)
    monkeypatch.setattr(Run, "model", lambda *_: pytest.fail("the model was opened again"))
    assert np.array_equal(scores_of(run, dataset, QUICK).losses, first.losses, equal_nan=True)


@pytest.mark.parametrize("left", [0, 100])
def test_damaged_scores_are_computed_again(left: int, make_run: MakeRun, dataset: Dataset) -> None:
    run = make_run()
    first = scores_of(run, dataset, QUICK)
    (file,) = kept(run)
    file.write_bytes(file.read_bytes()[:left])
    assert np.array_equal(scores_of(run, dataset, QUICK).losses, first.losses, equal_nan=True)


def test_force_scores_each_base_again(make_run: MakeRun) -> None:
    run = make_run()
    first = ensure(run, "nll", QUICK)
    (file,) = kept(run)
    with np.load(file) as arrays:
        np.savez(file, **{**arrays, "losses": arrays["losses"] + 1})
    assert ensure(run, "nll", QUICK, force=True) == first
    with np.load(file) as arrays:
        assert np.nanmean(arrays["losses"], dtype=np.float64) == pytest.approx(first["value"], abs=1e-9)


def test_the_difference_of_a_report_is_over_the_blocks_of_evaluation(make_run: MakeRun, dataset: Dataset) -> None:
    runs = [make_run(seed=seed) for seed in range(2)]
    for run in runs:
        ensure(run, "nll", QUICK.but(block=700))
    first, second = read_runs([run.path for run in runs])
    own = scored(first, "test")
    assert own is not None
    pieces = pieces_of(dataset, QUICK)
    assert np.array_equal(
        np.unique(own.blocks, return_inverse=True)[1],
        np.unique(blocks_of(dataset, pieces, 700), return_inverse=True)[1],
    )
    paired = difference(first, own, second, scored(second, "test"), "test")
    assert paired is not None and paired.blocks == first.measures["nll-test"]["blocks"]


def test_the_same_pieces_have_the_same_identity(dataset: Dataset) -> None:
    names = [identity(pieces_of(dataset, QUICK.but(**how))) for how in ({}, {}, {"stride": 16}, {"windows": 5})]
    assert names[0] == names[1] and len(set(names)) == 3


@pytest.mark.parametrize("precision", ["tf32", "bf16"])
def test_another_precision_tells_its_difference_and_is_kept_apart(precision: str, make_run: MakeRun) -> None:
    run = make_run()
    exact = ensure(run, "nll", QUICK)
    rounded = ensure(run, "nll", QUICK.but(precision=precision), force=True)
    assert len(kept(run)) == 2
    told = rounded["precision"]
    assert told["name"] == precision and told["windows"] == rounded["windows"]
    assert told["above_float32"] == pytest.approx(rounded["value"] - exact["value"], abs=1e-9)
    assert (told["above_float32"] != 0) == (precision == "bf16")  # a CPU has no TF32
    assert any(f"scored in {precision}" in sentence for sentence in rounded["warnings"])
    assert "precision" not in exact
