"""A run that starts from trained weights: what it keeps, what it refuses, and that a kill does not change it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import dnagoat
from dnagoat.config import RunConfig
from dnagoat.errors import OptionError, RunError, Stopped
from dnagoat.evaluation.outputs.export.arrive import import_model
from dnagoat.evaluation.outputs.export.send import export
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.kept.checkpoint import Checkpoint, model_sha256
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.loop import train
from dnagoat.training.start import origin_of, started
from dnagoat_cli import app
from tests.training.conftest import WINDOW, write_genome


@pytest.fixture(scope="module")
def trained(config: RunConfig, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("trained") / "first"
    list(train(config, path, device="cpu", dataset=dataset))
    return open_run(path)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("other")
    options = PrepareOptions(window=WINDOW, val=("c1",), test=("c2",), max_n=0.9)
    return prepare(write_genome(folder / "other.fa", lengths=(6000, 1500, 1500)), folder / "data", options)


def weights(run: Run, which: Any = "last") -> dict[str, torch.Tensor]:
    return Checkpoint.read(run.checkpoint(which)).weights


def test_it_starts_at_the_trained_weights(trained: Run, other: Dataset, tmp_path: Path) -> None:
    """With a rate of nearly 0 one step leaves every weight, those of positions too, where training had put it."""
    config = started(trained, other, {"train.steps": 1, "train.lr": 1e-12, "train.warmup": 0})
    (step,) = train(config, tmp_path / "next", device="cpu", dataset=other)
    run = open_run(tmp_path / "next")
    before, after = weights(trained, "best"), weights(run)
    assert before.keys() == after.keys() and any(".scheme." in name for name in before)
    for name, tensor in before.items():
        torch.testing.assert_close(after[name], tensor, atol=1e-9, rtol=1e-9)
    assert step.step == 1 and run.config.dataset_hash == other.content_hash
    origin = run.config.origin
    assert origin is not None and origin.sha256 == model_sha256(trained.checkpoint("best"))
    assert (origin.path, origin.dataset_hash) == (str(trained.path), trained.config.dataset_hash)
    assert origin_of(run).origin == origin  # the line goes on


def test_the_learning_rate_starts_anew(trained: Run, other: Dataset, tmp_path: Path) -> None:
    config = started(trained, other, {"train.lr": 5e-4})
    rates = [step.lr for step in train(config, tmp_path / "next", device="cpu", dataset=other)]
    assert rates[0] == pytest.approx(5e-4 / config.train.warmup) and max(rates) == pytest.approx(5e-4)


def test_interrupted_and_resumed_it_is_the_same(trained: Run, other: Dataset, tmp_path: Path) -> None:
    config = started(trained, other, {"train.seed": 4})
    list(train(config, tmp_path / "whole", device="cpu", dataset=other))
    seen: list[int] = []
    with pytest.raises(Stopped):
        for step in train(
            config, tmp_path / "broken", device="cpu", dataset=other, stop=lambda: "SIGTERM" if len(seen) == 4 else None
        ):
            seen.append(step.step)
    list(train(config, tmp_path / "broken", device="cpu", dataset=other, resume=True))
    whole, broken = (weights(open_run(tmp_path / name)) for name in ("whole", "broken"))
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
    assert open_run(tmp_path / "broken").config.origin == config.origin


def test_before_its_first_checkpoint_it_resumes_from_the_same_weights(
    trained: Run, other: Dataset, tmp_path: Path
) -> None:
    config = started(trained, other, {"train.steps": 2})
    list(train(config, tmp_path / "whole", device="cpu", dataset=other))
    steps = train(config, tmp_path / "killed", device="cpu", dataset=other)
    next(steps)
    steps.close()
    assert not (tmp_path / "killed" / "last").exists()
    list(train(config, tmp_path / "killed", device="cpu", dataset=other, resume=True))
    whole, killed = (weights(open_run(tmp_path / name)) for name in ("whole", "killed"))
    assert all(torch.equal(whole[name], killed[name]) for name in whole)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--position rope", "--position rope: {run} has goat"),
        ("--heads 2", "--heads 2: {run} has 1"),
        ("--goat-rank 3", "--goat-rank 3: {run} has"),
        ("--normaliser sparsemax", "--normaliser sparsemax: {run} has softmax"),
        ("--convolution 3", "{run} has None"),
        ("--score-n", "--score-n 5: {run} has 4"),
        ("--memory", "its weights fit no other model"),
        ("--preset small", "--preset small: {run} has tiny"),
        ("--match-parameters", "its weights fit no other model"),
    ],
)
def test_another_model_is_refused(trained: Run, other: Dataset, tmp_path: Path, options: str, said: str) -> None:
    words = ["train", str(other.path), "--from", str(trained.path), "--out", str(tmp_path / "out"), *options.split()]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2 and said.format(run=trained.path) in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_is_no_contradiction_is_taken(trained: Run, other: Dataset) -> None:
    config = started(trained, other, {"model.position.name": "goat", "model.kernel": "dense", "train.steps": 3})
    assert config.model.kernel == "dense" and config.train.steps == 3 and config.train.lr == trained.config.train.lr


def test_other_windows_are_refused(trained: Run, tmp_path: Path) -> None:
    options = PrepareOptions(window=32, val=("c1",), test=("c2",), max_n=0.9)
    narrow = prepare(write_genome(tmp_path / "genome.fa", lengths=(2000, 500, 500)), tmp_path / "data", options)
    with pytest.raises(OptionError, match=f"prepare it with `dnagoat prepare --window {WINDOW}`"):
        started(trained, narrow, {})


def test_its_own_folder_and_lost_weights_are_refused(trained: Run, other: Dataset, tmp_path: Path) -> None:
    config = started(trained, other, {})
    with pytest.raises(RunError, match="give another --out"):
        list(train(config, trained.path, force=True, device="cpu", dataset=other))
    assert trained.checkpoint("best").exists()
    assert config.origin is not None
    lost = config.but(origin=config.origin.but(path=str(tmp_path / "gone")))
    with pytest.raises(RunError, match="start from another --from"):
        list(train(lost, tmp_path / "out", device="cpu", dataset=other))
    changed = config.but(origin=config.origin.but(sha256="0" * 64))
    with pytest.raises(RunError, match="other weights"):
        list(train(changed, tmp_path / "out", device="cpu", dataset=other))
    assert not (tmp_path / "out").exists()


def test_an_imported_run_is_started_from_and_not_resumed(trained: Run, other: Dataset, tmp_path: Path) -> None:
    export(trained, tmp_path / "one.safetensors", "safetensors")
    back = import_model(tmp_path / "one.safetensors", tmp_path / "back", trained.dataset_path())
    with pytest.raises(RunError, match="was imported and holds weights alone"):
        list(train(back.config, back.path, resume=True, device="cpu"))
    run = dnagoat.train(other, tmp_path / "next", start=back, steps=2, device="cpu")
    assert run.config.origin is not None and run.config.origin.sha256 == model_sha256(trained.checkpoint())
    with pytest.raises(OptionError, match="its weights fit no other model"):
        dnagoat.train(other, tmp_path / "rope", start=back, arm="rope", device="cpu")


def test_a_run_that_was_never_validated_gives_its_last_weights(
    config: RunConfig, other: Dataset, tmp_path: Path
) -> None:
    """A dataset without a validation split has no best checkpoint."""
    options = PrepareOptions(window=WINDOW, test=("c1",), max_n=0.9)
    data = prepare(write_genome(tmp_path / "genome.fa", lengths=(6000, 1500)), tmp_path / "data", options)
    first = config.but(dataset=str(data.path), dataset_hash=data.content_hash, train=config.train.but(steps=2))
    list(train(first, tmp_path / "first", device="cpu", dataset=data))
    run = dnagoat.train(other, tmp_path / "next", start=tmp_path / "first", steps=1, device="cpu")
    assert run.config.origin is not None and run.config.origin.step == 2


def test_momentum_does_not_rise_again(config: RunConfig, dataset: Dataset, other: Dataset, tmp_path: Path) -> None:
    from dnagoat.config import MomentumConfig

    position = config.model.position.but(momentum=MomentumConfig(strength=0.5, ramp_steps=4))
    risen = config.but(model=config.model.but(position=position), train=config.train.but(steps=4, checkpoint_every=4))
    list(train(risen, tmp_path / "first", device="cpu", dataset=dataset))
    after = started(open_run(tmp_path / "first"), other, {}).model.position.momentum
    assert after is not None and (after.strength, after.ramp_steps) == (0.5, 0)
