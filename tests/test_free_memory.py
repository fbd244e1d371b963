"""How much memory may be taken: machines that are laid out in a folder, as Linux shows them in proc and sys."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dnagoat.free_memory import free_memory
from dnagoat.generation import continuation
from dnagoat.training import plan

GIB = 1 << 30
V1, V2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"


def lay_out(root: Path, files: dict[str, str]) -> Path:
    """A machine with 8 GiB available, and these files."""
    memory = f"MemTotal: {16 * GIB // 1024} kB\nMemAvailable: {8 * GIB // 1024} kB\n"
    for name, text in {"proc/meminfo": memory, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def v2(limit: object, used: object, stat: str = "", group: str = "") -> dict[str, str]:
    folder = f"{V2}/{group}".rstrip("/")
    names = ("memory.max", "memory.current", "memory.stat")
    return {f"{folder}/{name}": f"{value}\n" for name, value in zip(names, (limit, used, stat), strict=True)}


def v1(limit: object, used: object, stat: str = "", group: str = "") -> dict[str, str]:
    folder = f"{V1}/{group}".rstrip("/")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")
    return {f"{folder}/{name}": f"{value}\n" for name, value in zip(names, (limit, used, stat), strict=True)}


JOB = {**v2(2 * GIB, GIB, group="slurm/job7"), **v2("max", 5, group="slurm/job7/step0")}
CACHE = f"anon {GIB}\ninactive_file {GIB}"

MACHINES = {
    "no group": ("", {}, 8 * GIB),
    "version 2": ("0::/", v2(3 * GIB, GIB), 2 * GIB),
    "version 2, no limit": ("0::/", v2("max", GIB), 8 * GIB),
    "version 2, larger than what is available": ("0::/", v2(32 * GIB, GIB), 8 * GIB),
    "version 2, cached files are given back": ("0::/", v2(3 * GIB, 2 * GIB, CACHE), 2 * GIB),
    "version 2, a limit around its own group": ("0::/slurm/job7/step0", JOB, GIB),
    "version 1": ("9:pids:/\n4:cpu,memory:/job\n0::/", v1(4 * GIB, GIB, group="job"), 3 * GIB),
    "version 1, no limit": ("4:memory:/", v1(9223372036854771712, GIB), 8 * GIB),
    "version 1, the host's path": ("4:memory:/docker/0af1", v1(2 * GIB, GIB), GIB),
    "used up": ("0::/", v2(GIB, 2 * GIB), 0),
}


@pytest.mark.parametrize(("groups", "files", "free"), MACHINES.values(), ids=MACHINES)
def test_a_container_limits_what_is_free(tmp_path: Path, groups: str, files: dict[str, str], free: int) -> None:
    assert free_memory(lay_out(tmp_path, {"proc/self/cgroup": groups, **files})) == free


def test_without_proc_there_is_an_answer(tmp_path: Path) -> None:
    assert free_memory(tmp_path) >= free_memory() > 0


def test_planner_and_generator_ask_the_same_function(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (continuation, plan):
        monkeypatch.setattr(module, "free_memory", lambda: 12345)
    assert continuation.free_bytes(torch.device("cpu")) == plan.memory_of(torch.device("cpu")) == 12345
