"""What arms cost side by side: fresh processes, arms in turn, round after round, and the median of all repeats."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.files import read_json, write_json
from dnagoat.measure.job import PEER, Job
from dnagoat.measure.peer import VERSION, installed
from dnagoat.measure.trial import NO_MEMORY, OK

Row = dict[str, Any]

# The GOAT authors' figures for their genome run on one A100 (arXiv 2601.15380): training throughput, peak CUDA memory.
# Their peak for RoPE was read after a benchmark that ran the quadratic kernel too.
PUBLISHED: tuple[Row, ...] = tuple(
    {
        "arm": name,
        "tokens_per_second": scheme.published.tokens_per_second,
        "cuda_peak": scheme.published.cuda_peak,
    }
    for name, scheme in SCHEMES.items()
    if scheme.published
)
FACTS = ("bases", "parameters", "kernel_ran", "threads", "subnormals", "device_name", "torch", "peer")
PEAKS = ("cuda_allocated_peak", "cuda_reserved_peak", "resident_peak")


def bench(jobs: Sequence[Job], rounds: int, progress: Callable[[Job, int], None] = lambda job, done: None) -> list[Row]:
    """One row a job: `rounds` processes each, in turn with the other arms; out of memory is a row like any other."""
    trials: list[list[Row]] = [[] for _ in jobs]
    done = 0
    for _ in range(rounds):
        for job, found in zip(jobs, trials, strict=True):
            progress(job, done)
            if not found or found[-1]["outcome"] == OK:  # what failed once fails again
                found.append(run(job))
            done += 1
    return [row_of(job, found) for job, found in zip(jobs, trials, strict=True)]


def run(job: Job) -> Row:
    """The result of one job in a process of its own, or how that process ended."""
    with TemporaryDirectory(prefix="dnagoat-") as folder:
        asked, result = Path(folder) / "job.json", Path(folder) / "result.json"
        write_json(asked, job.model_dump(mode="json"))
        command = [sys.executable, "-P", "-m", "dnagoat.measure.trial", str(asked), str(result)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.exists():
            return dict(read_json(result))
        if ended.returncode == -9:  # what the kernel sends when memory is short
            return {"outcome": NO_MEMORY, "why": "the system ended the process"}
        return {"outcome": "failed", "why": (ended.stderr.strip().splitlines() or [f"exit {ended.returncode}"])[-1]}


def row_of(job: Job, trials: list[Row]) -> Row:
    """What the trials of one job come to, each as `dnagoat.measure.trial` gives it."""
    row = {
        "what": job.what,
        "arm": job.arm,
        "length": job.length,
        "batch": job.batch,
        "precision": job.precision,
        "kernel": job.kernel,
        "device": job.device,
        "compiled": job.compiled,
        "repeats": round(median(len(trial.get("seconds", ())) for trial in trials)) or job.repeats,
        "rounds": len(trials),
    }
    good = [trial for trial in trials if trial["outcome"] == OK]
    if not good:
        return {**row, **dict.fromkeys(("tokens_per_second", *PEAKS)), **trials[-1]}
    seconds = sorted(second for trial in good for second in trial["seconds"])
    bases = good[0]["bases"]
    return {
        **row,
        **{key: good[0][key] for key in FACTS},
        "outcome": trials[-1]["outcome"],
        "seconds": median(seconds),
        "seconds_spread": [seconds[0], seconds[-1]],
        "process_seconds": median(second for trial in good for second in trial["process_seconds"]),
        "tokens_per_second": bases / median(seconds),
        "tokens_per_second_spread": [bases / seconds[-1], bases / seconds[0]],
        **{peak: _median(trial[peak] for trial in good) for peak in (*PEAKS, "resident_before")},
        "resident_reset": all(trial["resident_reset"] for trial in good),
    }


def _median(values: Iterator[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def paper_arms() -> list[str]:
    """The arms with published figures and, where it is installed in the version that is measured, the authors' own
    module."""
    return [*(known["arm"] for known in PUBLISHED), *([PEER] if installed() == VERSION else [])]
