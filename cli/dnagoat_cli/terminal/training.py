"""What a person sees while a model trains: the step, its loss, the newest validation, speed and memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dnagoat_cli.terminal.bar import show_progress

if TYPE_CHECKING:
    from dnagoat.training.kept.metrics import Step


def watch(steps: Iterable[Step], label: str, *, quiet: bool = False) -> Step | None:
    """Runs through the steps while they are told; the last one, or None where there was none to make."""
    last, val_nll = None, None
    if quiet:
        return next(iter(deque(steps, maxlen=1)), None)
    with show_progress(f"{label}: the first step") as tell:
        for last in steps:
            val_nll = last.val_nll if last.val_nll is not None else val_nll
            tell(f"{label}: step", last.step, last.steps, _note(last, val_nll))
    return last


def _note(step: Step, val_nll: float | None) -> str:
    memory = step.cuda_allocated_peak if step.cuda_allocated_peak is not None else step.resident_peak
    of = "CUDA" if step.cuda_allocated_peak is not None else "resident"
    validated = "not validated yet" if val_nll is None else f"val {val_nll:.4f}"
    return (
        f"loss {step.loss:.4f}, {validated}, {step.tokens_per_second:,.0f} bases/s, "
        f"peak {(memory or 0) / 2**30:.2f} GiB {of}"
    )
