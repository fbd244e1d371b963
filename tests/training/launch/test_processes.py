"""One process and two are the same training: the loss is a sum over all scored bases, divided once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dnagoat.config import RunConfig
from dnagoat.errors import Stopped
from dnagoat.files import read_json
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.genome.dataset import Dataset
from dnagoat.training.feed import Feed
from dnagoat.training.kept.run import open_run
from dnagoat.training.launch.processes import first_node, place, rendezvous
from dnagoat.training.loop import train
from dnagoat.training.presets import changed
from tests.training.launch.on_two_processes import by_muon, remembering

STEPS = 20


@pytest.fixture(scope="module")
def longer(config: RunConfig) -> RunConfig:
    """With AdamW, which FSDP can shard."""
    options = {"train.steps": STEPS, "train.checkpoint_every": 10, "train.optimizer": "adamw"}
    return changed(config, {**options, "model.position.name": "goat"})


@pytest.fixture(scope="module")
def together(longer: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two processes: ddp, fsdp, shrink, which stopped after ten steps, and grow, which one process began."""
    out = tmp_path_factory.mktemp("together")
    (out / "config.json").write_text(json.dumps(longer.model_dump(mode="json")))
    asked = iter([None] * 9 + ["SIGTERM"])
    with pytest.raises(Stopped):
        list(train(longer, out / "grow", device="cpu", stop=lambda: next(asked)))
    script = Path(__file__).with_name("on_two_processes.py")
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d"]
    launch += ["--rdzv-endpoint", "localhost:0", str(script), str(out / "config.json"), str(out)]
    done = subprocess.run(launch, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return out


@pytest.fixture(scope="module")
def alone(longer: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("alone") / "run"
    list(train(longer, out, device="cpu"))
    return out


def losses(run: Path, column: str = "loss") -> list[float]:
    return [row[column] for row in open_run(run).metrics() if row[column] is not None]


def test_the_halves_hold_different_numbers_of_n(longer: RunConfig, dataset: Dataset) -> None:
    halves = [Feed.of(dataset, longer.train, rank, 2).batch(1) for rank in range(2)]
    counts = [(to_inputs_targets(codes)[1] >= 0).sum() for codes in halves]
    assert counts[0] != counts[1]
    assert np.array_equal(np.concatenate(halves), Feed.of(dataset, longer.train).batch(1))


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_two_processes_give_the_curve_of_one(together: Path, alone: Path, parallel: str) -> None:
    assert len(losses(alone)) == STEPS
    assert read_json(together / parallel / "summary.json")["processes"] == 2
    for column in ("loss", "grad_norm", "val_nll"):
        assert losses(together / parallel, column) == pytest.approx(losses(alone, column), abs=1e-5), column


def test_two_processes_with_memory_give_the_curve_of_one(together: Path, longer: RunConfig, tmp_path: Path) -> None:
    list(train(remembering(longer), tmp_path / "run", device="cpu"))
    one, two = open_run(tmp_path / "run"), open_run(together / "memory")
    assert one.config.memory_tables == two.config.memory_tables is not None
    assert read_json(two.path / "summary.json")["processes"] == 2
    for column in ("loss", "grad_norm", "val_nll"):
        assert losses(two.path, column) == pytest.approx(losses(one.path, column), abs=1e-5), column


def test_two_processes_with_muon_give_the_curve_of_one(together: Path, longer: RunConfig, tmp_path: Path) -> None:
    """Up to its matrices' rounding to bfloat16, and FSDP, which shards them, is refused before anything is written."""
    list(train(by_muon(longer), tmp_path / "run", device="cpu"))
    assert losses(together / "muon") == pytest.approx(losses(tmp_path / "run"), abs=1e-3)
    assert "whole matrices" in (together / "refused.txt").read_text() and not (together / "sharded").exists()


def test_a_run_goes_on_with_another_number_of_processes(together: Path, alone: Path, longer: RunConfig) -> None:
    list(train(longer, together / "shrink", device="cpu", resume=True))
    for run in ("shrink", "grow"):
        assert len(losses(together / run)) == STEPS
        assert losses(together / run) == pytest.approx(losses(alone), abs=1e-5), run


def test_accumulation_gives_the_same_curve(longer: RunConfig, alone: Path, tmp_path: Path) -> None:
    few = changed(longer, {"train.micro_batch": 3})
    list(train(few, tmp_path / "run", device="cpu"))
    assert losses(tmp_path / "run") == pytest.approx(losses(alone), abs=1e-5)


def test_who_am_i_under_torchrun_srun_and_neither() -> None:
    slurm = {"SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NTASKS": "8"}
    assert place({"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "3"}) == (3, 4, 3)
    assert place({**slurm, "SLURM_STEP_NUM_TASKS": "8"}) == (5, 8, 1)
    assert place(slurm) == (0, 1, 0)  # a batch script without srun
    assert place({}) == (0, 1, 0)
    assert rendezvous({"SLURM_STEP_NODELIST": "gpu[03-05]", "SLURM_JOB_ID": "41234"}) == ("gpu03", 21234)
    assert rendezvous({"MASTER_ADDR": "here", "MASTER_PORT": "7"}) == ("here", 7)
    assert [first_node(n) for n in ("a", "b,c", "x[2,5]", "y[07-09,11],z")] == ["a", "b", "x2", "y07"]
