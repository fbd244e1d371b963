"""Measurements in processes of their own: what ran is seen, arms take turns, and no memory is a row."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dnagoat.attention.ran import DENSE
from dnagoat.config import ModelConfig, TrainConfig
from dnagoat.measure import bench as benching
from dnagoat.measure.bench import bench, run
from dnagoat.measure.job import PEER, Job, grid
from dnagoat.measure.trial import NO_MEMORY, OK, REFUSED, trial
from dnagoat_cli import app

MODEL = ModelConfig(width=64, heads=1, layers=1, mlp_width=64, context=32)


def jobs(**axes: object) -> list[Job]:
    chosen = {
        "whats": ["train"],
        "arms": ["rope"],
        "lengths": [32],
        "batches": [2],
        "precisions": ["fp32"],
        "kernels": ["auto"],
        "device": "cpu",
        "warmup": 1,
        "repeats": 2,
    }
    return list(grid(MODEL, TrainConfig(), **{**chosen, **axes}))  # type: ignore[arg-type]


def test_a_process_of_its_own_measures_a_training_step() -> None:
    (job,) = jobs(arms=["goat"])
    result = run(job)
    assert result["outcome"] == OK
    assert len(result["seconds"]) == 2
    assert min(result["seconds"]) > 0
    assert result["bases"] == 64
    assert "sdpa" in result["kernel_ran"]
    assert result["cuda_allocated_peak"] is None  # not 0: there is no such memory
    assert result["resident_peak"] > 50e6


@pytest.mark.parametrize("what", ["evaluate", "generate"])
def test_other_work(what: str) -> None:
    result = trial(jobs(whats=[what])[0])
    assert result["outcome"] == OK
    assert result["bases"] == 64


def test_the_kernel_that_ran_is_seen_not_assumed() -> None:
    assert trial(jobs(kernels=["dense"])[0])["kernel_ran"] == DENSE


def test_out_of_memory_is_a_row() -> None:
    (job,) = jobs(lengths=[10**6], batches=[10**9])
    assert trial(job) == {"outcome": NO_MEMORY}
    (row,) = bench([job], rounds=2)
    assert row["outcome"] == NO_MEMORY
    assert row["tokens_per_second"] is None
    assert row["rounds"] == 1  # not tried again


def test_a_process_that_the_system_ends_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    suicide = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    real = benching.subprocess.run
    monkeypatch.setattr(benching.subprocess, "run", lambda command, **how: real([command[0], "-c", suicide], **how))
    assert run(jobs()[0])["outcome"] == NO_MEMORY


def test_what_does_not_go_together_is_refused() -> None:
    result = trial(jobs(whats=["generate"], precisions=["bf16"])[0])
    assert result["outcome"] == REFUSED
    assert "fp32" in result["why"]


def test_arms_take_turns_and_rows_are_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    order, seconds = [], iter([1.0, 10.0, 3.0, 30.0, 2.0, 20.0])

    def fake(job: Job) -> dict[str, object]:
        order.append(job.arm)
        constant = {"bases": 60, "parameters": 1, "kernel_ran": "x", "threads": 1, "device_name": "cpu", "torch": "2"}
        memory = {"resident_peak": 10, "resident_before": 5, "resident_reset": True}
        cuda = {"cuda_allocated_peak": None, "cuda_reserved_peak": None}
        value = next(seconds)
        return {"outcome": OK, "seconds": [value], "process_seconds": [value], **constant, **memory, **cuda}

    monkeypatch.setattr(benching, "run", fake)
    rope, goat = bench(jobs(arms=["rope", "goat"]), rounds=3)
    assert order == ["rope", "goat"] * 3
    assert (rope["seconds"], goat["seconds"]) == (2.0, 20.0)
    assert rope["tokens_per_second"] == 30
    assert rope["tokens_per_second_spread"] == [20, 60]
    assert rope["cuda_allocated_peak"] is None


def test_the_command(tmp_path: Path) -> None:
    small = [
        "--preset",
        "tiny",
        "--length",
        "32",
        "--batch-size",
        "1",
        "--rounds",
        "1",
        "--repeats",
        "1",
        "--device",
        "cpu",
    ]
    words = ["bench", *small, "--arm", "rope", "--out", str(tmp_path / "bench.json"), "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads((tmp_path / "bench.json").read_text())
    assert json.loads(result.stdout)["rows"][0]["outcome"] == OK
    assert CliRunner().invoke(app, words).exit_code == 2
    refused = CliRunner().invoke(app, ["bench", "--arm", "sheep"])
    assert refused.exit_code == 2
    assert "goat" in refused.stderr


@pytest.mark.parametrize("what", ["train", "evaluate"])
def test_the_authors_module_in_the_place_of_our_attention(what: str) -> None:
    pytest.importorskip("goat", reason="goat-attention is a peer to measure against, not a dependency")
    result = trial(jobs(whats=[what], arms=[PEER])[0])
    assert result["outcome"] == OK
    assert "sdpa" in result["kernel_ran"]


def test_the_authors_module_is_asked_for_where_it_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "goat", None)
    result = trial(jobs(arms=[PEER])[0])
    assert result["outcome"] == REFUSED
    assert "pip install goat-attention" in result["why"]
