"""What a run writes down at every step: metrics.jsonl, without gaps or repeats over any number of sittings."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, TextIO

import torch

from dnagoat.errors import TrainingError
from dnagoat.files import write_json, write_text
from dnagoat.training.kept.learning_curve import late_losses
from dnagoat.training.kept.run import METRICS, SUMMARY


@dataclass(frozen=True)
class Step:
    """One optimizer step, as it is written and as the caller of `train` sees it; what was not measured is None.

    `step` counts from 1; `loss` is in nats per scored base of the effective batch, before the update; `grad_norm` is
    None where float16 skipped the step; `seconds` is training time since the run began, over all sittings; memory in
    bytes, peaks of the main process.
    """

    step: int
    steps: int
    bases: int
    loss: float
    lr: float
    grad_norm: float | None
    tokens_per_second: float
    seconds: float
    val_nll: float | None = None
    cuda_allocated_peak: int | None = None
    cuda_reserved_peak: int | None = None
    resident_peak: int | None = None
    prior: dict[str, list[float]] | None = None

    def row(self) -> dict[str, Any]:
        """The line of metrics.jsonl; `prior` only where it was looked at."""
        row = asdict(self)
        del row["steps"]
        return row if self.prior is not None else {key: value for key, value in row.items() if key != "prior"}


class Metrics:
    """The open file: rows are appended as they come, and forced to the disk before a checkpoint relies on them."""

    def __init__(self, run: Path, after: int) -> None:
        """Continues a file after step `after`: later rows, and a half-written last one, are dropped."""
        self._path = run / METRICS
        rows = [line for line in _whole_lines(self._path) if json.loads(line)["step"] <= after]
        write_text(self._path, "".join(line + "\n" for line in rows))
        self._file: TextIO = self._path.open("a", encoding="utf-8")

    def write(self, step: Step) -> None:
        """Appends a row; a `TrainingError` where the disk is full."""
        line = json.dumps(step.row(), allow_nan=False) + "\n"
        self._disk(lambda: (self._file.write(line), self._file.flush()))

    def sync(self) -> None:
        self._disk(lambda: os.fsync(self._file.fileno()))

    def finish(self, described: dict[str, Any]) -> None:
        """Writes summary.json: what the run took, and what it was."""
        rows = [json.loads(line) for line in _whole_lines(self._path)]
        write_json(self._path.with_name(SUMMARY), {"format": 1, **summary(rows), **described})

    def close(self) -> None:
        with suppress(OSError):  # what a full disk refused is not tried again
            self._file.close()

    def _disk(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as why:
            raise TrainingError(
                f"{self._path} cannot grow ({os.strerror(why.errno or 0)}); the last checkpoint is intact: "
                "make room, then continue (`dnagoat train --resume`)"
            ) from why


def _whole_lines(path: Path) -> list[str]:
    """The rows up to the first that is not whole JSON (a kill may leave half a line)."""
    if not path.exists():
        return []
    whole = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            json.loads(line)
        except ValueError:
            break
        whole.append(line)
    return whole


STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")  # Linux alone


def resident_peak() -> int:
    """The largest resident size of this process in bytes, since `forget_peaks` where the kernel can forget."""
    if STATUS.exists():
        return (
            next(int(line.split()[1]) for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")) * 1024
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def forget_peaks(device: torch.device) -> None:
    """Peaks count from here on: a process may train several runs, one after the other."""
    with suppress(OSError):
        FORGET.write_text("5")
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def cuda_peaks(device: torch.device) -> tuple[int | None, int | None]:
    """Peak bytes allocated and reserved on a CUDA device since training began; None on a CPU."""
    if device.type != "cuda":
        return None, None
    return torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Median speed and largest peaks of a run's rows; the first rows, which warm up, count for memory alone."""
    train_nll, val_nll = late_losses(rows)
    settled = rows[min(len(rows) // 2, 5) :]
    best = min((row for row in rows if row["val_nll"] is not None), key=lambda row: row["val_nll"], default=None)
    return {
        "steps": rows[-1]["step"],
        "bases": rows[-1]["bases"],
        "seconds": rows[-1]["seconds"],
        "tokens_per_second": median(row["tokens_per_second"] for row in settled),
        "best_step": best and best["step"],
        "best_val_nll": best and best["val_nll"],
        "train_nll": train_nll,
        "val_nll": val_nll,
        **{name: largest(rows, name) for name in ("cuda_allocated_peak", "cuda_reserved_peak", "resident_peak")},
    }


def largest(rows: Sequence[dict[str, Any]], name: str) -> int | None:
    return max((row[name] for row in rows if row[name] is not None), default=None)
