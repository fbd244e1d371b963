"""Which GPU is whose, on any machine: one a job, one a process, none that torch cannot use."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
from collections import Counter
from errno import ENOLCK, ENOSYS
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from dnagoat.config import ModelConfig
from dnagoat.errors import MissingError, OptionError
from dnagoat.evaluation.probes.sweep import Sweep
from dnagoat.progress import silent
from dnagoat.training.kept.lock import locked
from dnagoat.training.launch import devices, side_by_side
from dnagoat.training.launch.devices import (
    VISIBLE,
    idle_gpu,
    least_used,
    nvidia_driver,
    refuse_one_for_all,
    refuse_shared,
    visible_gpus,
)
from dnagoat.training.launch.processes import pick_device
from dnagoat.training.step.matching import matched

NVRM = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version: 12\n"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The root of a machine with a GPU and an old driver."""
    (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "proc/driver/nvidia/version").write_text(NVRM)
    (tmp_path / "dev").mkdir()
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
        (tmp_path / "dev" / name).touch()
    return tmp_path


def test_a_gpu_that_torch_cannot_use_is_no_reason_to_be_slow(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = idle_gpu(machine, {})
    assert told is not None and "driver 535.104.05" in told and torch.__version__ in told and "docs/gpu.md" in told
    monkeypatch.setattr("dnagoat.training.launch.processes.idle_gpu", lambda: told)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for name in ("auto", "cuda"):
        with pytest.raises(MissingError, match=r"docs.gpu.md lists them.*--device cpu"):
            pick_device(name)
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_a_gpu_that_was_hidden_is_not_missed(machine: Path, hidden: str, tmp_path: Path) -> None:
    assert idle_gpu(machine, {VISIBLE: hidden}) is None
    (machine / "dev/nvidia0").unlink()  # a container without GPUs sees its host's driver, and no device
    assert idle_gpu(machine, {}) is None
    assert nvidia_driver(machine) == "535.104.05" and nvidia_driver(tmp_path / "nowhere") is None


def cuda(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


def test_jobs_share_out_what_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda(monkeypatch, 3)
    assert visible_gpus("auto", {}) == ["0", "1", "2"]
    assert visible_gpus("cuda", {VISIBLE: "5,GPU-ab,7"}) == ["5", "GPU-ab", "7"]
    assert visible_gpus("cuda:1", {}) == visible_gpus("cpu", {}) == []
    taken: list[str | None] = []
    for _ in range(7):
        taken.append(least_used(["0", "1", "2"], taken))
    assert sorted(Counter(taken).values()) == [2, 2, 3]
    assert least_used([], taken) is None


def test_a_comparisons_runs_have_a_gpu_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environments: list[dict[str, str]] = []

    def started(command: Any, env: dict[str, str], **_: Any) -> Any:
        environments.append(env)
        return SimpleNamespace(poll=lambda: None, terminate=lambda: None, wait=lambda: None, returncode=0)

    cuda(monkeypatch, 2)
    run: Any = SimpleNamespace(out=tmp_path)
    monkeypatch.setattr(subprocess, "Popen", started)
    jobs: list[side_by_side.Worker] = []
    for _ in range(3):
        gpu = least_used(visible_gpus("auto", {}), [job.gpu for job in jobs])
        jobs.append(side_by_side._start(run, 1, "cuda", gpu))
    side_by_side._end(jobs)
    assert [env[VISIBLE] for env in environments] == ["0", "1", "0"]


def visible(unit: tuple[Any, ...], progress: object) -> dict[str, Any]:
    return {"gpu": os.environ.get(VISIBLE)}


def test_a_sweeps_models_have_a_gpu_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dnagoat.evaluation.probes.sweep.visible_gpus", lambda device: ["4", "6"])
    rows = Sweep(jobs=2, device="cuda").run({}, [("a",), ("b",)], visible, silent)
    assert sorted(row["gpu"] for row in rows.values()) == ["4", "6"]


class Board(dict[str, str]):
    """A store of torch.distributed, where all have written."""

    def set(self, key: str, value: str) -> None:
        self[key] = value

    def get(self, key: str) -> bytes:  # type: ignore[override]
        return self[key].encode()


@pytest.mark.parametrize(("names", "fault"), [(["a", "b"], None), (["a", "a"], "2 processes .* 1 of its GPUs")])
def test_two_processes_never_have_one_gpu(names: list[str], fault: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under SLURM each may be shown its own as cuda:0: that is no fault."""
    board = Board({"device 1": f"cuda node1 {names[1]}"})
    monkeypatch.setattr(devices, "name_device", lambda device: f"cuda node1 {names[0]}")
    if fault is None:
        refuse_shared(board, 0, 2, torch.device("cuda:0"))
        return
    with pytest.raises(OptionError, match=fault):
        refuse_shared(board, 0, 2, torch.device("cuda:0"))


def test_one_named_gpu_is_not_for_several_processes() -> None:
    with pytest.raises(OptionError, match="--device cuda:0 is one GPU, and several processes were started"):
        refuse_one_for_all("cuda:0")
    refuse_one_for_all("cuda")


def test_matching_sizes_touches_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is done before each process has taken its own GPU, and would open the first one from all of them."""
    monkeypatch.setattr("dnagoat.attention.kernels.flash_fault", lambda: pytest.fail("a device was tried"))
    for kernel in ("auto", "flash"):
        matched(ModelConfig(layers=1, kernel=kernel))


@pytest.mark.parametrize("number", [ENOLCK, ENOSYS])
@pytest.mark.parametrize("rank", [0, 1], ids=["main", "worker"])
def test_a_file_system_without_locks_is_told_and_trained_on(
    rank: int, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no locks")

    said: list[str] = []
    monkeypatch.setattr(fcntl, "flock", refuse)
    group: Any = SimpleNamespace(main=rank == 0, agree=lambda sentence: sentence, barrier=lambda: None)
    with locked(tmp_path, group, said.append):
        pass
    assert [("no locks" in line) for line in said] == [True] * (rank == 0)


LOST = """
import sys, torch
from torch import distributed
from dnagoat.errors import TrainingError
from dnagoat.training.launch.processes import processes
try:
    with processes("cpu") as group:
        if group.rank == 1:
            raise TrainingError("step 3 ran out of memory")
        group.total(1.0)
except TrainingError as fault:
    sys.exit(str(fault))
"""


def test_a_process_that_ends_takes_the_others_along(tmp_path: Path) -> None:
    """Each with one sentence, instead of waiting for who is gone."""
    script = tmp_path / "lost.py"
    script.write_text(LOST)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    where = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": port}
    both = [
        subprocess.Popen(
            [sys.executable, str(script)], env={**where, "RANK": str(rank)}, stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=240)[1] for process in both]
    assert [process.returncode for process in both] == [1, 1]
    assert "another of the 2 processes has ended" in said[0] and "Traceback" not in said[0]
    assert "step 3 ran out of memory" in said[1] and "Traceback" not in said[1]
