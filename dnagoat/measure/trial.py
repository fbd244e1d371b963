"""What a measuring process does: `python -m dnagoat.measure.trial JOB.json RESULT.json`, and nothing else.

A process of its own, because peaks, caches and allocators of an earlier measurement would be in the numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import torch

from dnagoat.attention.fast.subnormals import flush_subnormals, subnormals
from dnagoat.attention.proof.kernel import kernel_of
from dnagoat.errors import DnagoatError
from dnagoat.files import read_json, write_json
from dnagoat.measure.job import PEER, Job
from dnagoat.measure.peaks import read_peaks, reset_peaks
from dnagoat.measure.peer import DISTRIBUTION, installed
from dnagoat.measure.work import Work, work_of
from dnagoat.training.engine import OutOfMemory
from dnagoat.training.step.precision import matrix_products

OK, NO_MEMORY, REFUSED = "ok", "out of memory", "refused"


def trial(job: Job) -> dict[str, Any]:
    """Seconds of each repeat, peaks over the repeats, and the kernel; or how it ended instead."""
    try:
        with flush_subnormals(), matrix_products(job.precision):
            return {"outcome": OK, **_measured(job)}
    except (OutOfMemory, MemoryError, torch.OutOfMemoryError):
        return {"outcome": NO_MEMORY}
    except RuntimeError as why:
        if "DefaultCPUAllocator" not in str(why):
            raise
        return {"outcome": NO_MEMORY}
    except DnagoatError as why:
        return {"outcome": REFUSED, "why": str(why)}


def _measured(job: Job) -> dict[str, Any]:
    device = torch.device(job.device)
    before = reset_peaks(device)
    work = work_of(job)
    for _ in range(job.warmup):
        work.call()
    reset_peaks(device)
    clocks: list[tuple[float, float]] = []
    while len(clocks) < job.repeats or sum(wall for wall, _ in clocks) < job.seconds:
        clocks.append(_timed(work, device))
    return {
        "seconds": [wall for wall, _ in clocks],
        "process_seconds": [cpu for _, cpu in clocks],
        **read_peaks(device),
        **before,
        "bases": work.bases,
        "parameters": work.parameters,
        "kernel_ran": kernel_of(work.glimpse or work.call),
        "threads": torch.get_num_threads(),
        "subnormals": subnormals(),
        "device_name": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "torch": str(torch.__version__),
        "peer": f"{DISTRIBUTION} {installed()}" if job.arm == PEER else None,
    }


def _timed(work: Work, device: torch.device) -> tuple[float, float]:
    """Seconds on the wall and of this process; the device has finished at both ends."""
    _finish(device)
    wall, cpu = perf_counter(), process_time()
    work.call()
    _finish(device)
    return perf_counter() - wall, process_time() - cpu


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main(job: Path, result: Path) -> None:
    write_json(result, trial(Job(**read_json(job))))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
