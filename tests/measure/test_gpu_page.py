"""Day one on a GPU, `make gpu`: what it needs, what it collects and the page that it writes, from recorded rows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def gpu() -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import gpu as script  # type: ignore[import-not-found,unused-ignore]
    finally:
        sys.path.pop(0)
    return script


PARITIES = {
    "driver": "580.65.06",
    "cuda": "13.0",
    "self_test": [
        {"subject": "rope", "precision": "float32", "error": 1e-7, "bar": 4e-6},
        {"subject": "goat", "precision": "float32", "error": 2e-6, "bar": 4e-6},
        {"subject": "goat", "precision": "bfloat16", "error": 3e-2, "bar": 2e-2},
    ],
}
SPEEDS = [
    {"arm": "nope", "tokens_per_second": 200.0},
    {"arm": "rope", "tokens_per_second": 160.0},
    {"arm": "goat", "tokens_per_second": None},
]
PAPER = {
    "published": [{"arm": "goat", "tokens_per_second": 139_886, "cuda_peak": 1.83e9}],
    "rows": [
        {"arm": "goat", "tokens_per_second": 250_000.0, "kernel_ran": "sdpa, cuDNN", "outcome": "ok"}
        | {"cuda_allocated_peak": 10**9, "cuda_reserved_peak": 2 * 10**9},
        {"arm": "rope", "tokens_per_second": None, "outcome": "out of memory"}
        | {"cuda_allocated_peak": None, "cuda_reserved_peak": None},
    ],
}


def values(facts: Iterator[dict[str, Any]]) -> dict[str, tuple[Any, Any]]:
    return {row["name"]: (row["value"], row["held"]) for row in facts}


def test_what_commands_say_becomes_rows(gpu: ModuleType) -> None:
    counted = values(gpu.tests_told("....\n3 failed, 40 passed, 2 skipped, 1 error in 3.21s\n"))
    assert counted == {"passed": (40, True), "failed": (4, False), "skipped": (2, None)}
    told = values(gpu.parities_told(PARITIES))
    assert told["driver"] == ("580.65.06", None)
    assert told["worst error over its bar, float32 (goat)"] == (0.5, True)
    assert told["worst error over its bar, bfloat16 (goat)"] == (pytest.approx(1.5), False)
    assert values(gpu.curves_told([1.0, 0.9], [1.0, 0.95], "the CPU's"))["first step's loss from the CPU's"][1]
    speeds = values(gpu.compiled_told(SPEEDS, SPEEDS))
    assert speeds["time of rope over nope, eager"] == (1.25, None)
    assert speeds["goat, eager"] == (None, None) and "goat, compiled over eager" not in speeds
    paper = values(gpu.paper_told(PAPER))
    assert paper["goat: the authors' speed, one A100"] == (139_886, None)
    assert paper["rope: speed (out of memory)"] == (None, None)


def part(gpu: ModuleType, name: str, fault: str | None = None, rows: Any = ()) -> Any:
    def find(scratch: Path, machine: Any) -> Iterator[dict[str, Any]]:
        if isinstance(rows, Exception):
            raise rows
        yield from rows

    return gpu.Part(name, f"{name}?", lambda machine: fault, find)


def test_a_page_says_what_was_held_missed_failed_and_not_done(gpu: ModuleType, tmp_path: Path) -> None:
    machine = gpu.Machine(1, None, "no package", None)
    held = part(gpu, "held", rows=[gpu.fact("error", 0.5, "", 1)])
    found = list(gpu.collect([held, part(gpu, "absent", "there is one GPU")], tmp_path, machine))
    assert gpu.whole(found)
    page = gpu.page(found, "1 x H200; driver 580")
    assert "| error | 0.5 |  | <= 1 | held |" in page and "1 x H200; driver 580" in page
    assert "1 of 2 parts were done here; of 1 bars 1 were held and 0 missed." in page
    assert page.endswith("## Not done here\n\nThere is one GPU:\n\n- absent?\n")
    missed = part(gpu, "missed", rows=[gpu.fact("error", 2.0, "", 1), gpu.fact("speed", None, "bases/s")])
    failed = part(gpu, "failed", rows=gpu.Failed("`x` ended with 1: why"))
    found = list(gpu.collect([missed, failed], tmp_path, machine))
    assert not gpu.whole(found[:1]) and not gpu.whole(found[1:])
    page = gpu.page(found, "")
    assert "**missed**" in page and "| speed | n/a | bases/s |  |  |" in page
    assert "**Failed**: `x` ended with 1: why." in page and "Not done" not in page
    assert "1 of 2 parts were done here, 1 failed; of 1 bars 0 were held and 1 missed." in page


def test_every_part_names_what_it_needs(gpu: ModuleType) -> None:
    nothing = gpu.Machine(0, "there is no CUDA device here", "there is no CUDA device", "not installed")
    assert all(part.fault(nothing) for part in gpu.PARTS)
    one = gpu.Machine(1, None, None, None)
    assert [part.name for part in gpu.PARTS if part.fault(one)] == ["several"]
    assert not any(part.fault(gpu.Machine(2, None, None, None)) for part in gpu.PARTS)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_without_a_gpu_it_runs_through_and_says_so(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "No GPU; NVIDIA driver" in report and f"torch {torch.__version__}" in report
    assert "0 of 9 parts were done here." in report and len(re.findall("^- ", report, re.MULTILINE)) == 9
