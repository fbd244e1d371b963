"""What a person sees while a model trains: one live line in a terminal, a plain line an evaluation elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from dnagoat.training.kept.metrics import Step


def watch(steps: Iterable[Step], label: str, *, quiet: bool = False) -> Step | None:
    """Runs through the steps, drawing on standard error; the last step, or None where there was none to make."""
    console = Console(stderr=True)
    last = None
    if quiet or not console.is_terminal:
        for last in steps:
            if last.val_nll is not None and not quiet:
                console.print(f"{label}  {_line(last, last.val_nll)}", highlight=False)
        return last
    with _bar(console, label) as bar:
        task: TaskID | None = None
        val_nll = None
        for last in steps:
            val_nll = last.val_nll if last.val_nll is not None else val_nll
            if task is None:
                task = bar.add_task(label, total=last.steps, completed=last.step - 1, said="")
            bar.update(task, completed=last.step, said=_line(last, val_nll))
    return last


def _bar(console: Console, label: str) -> Progress:
    return Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(compact=True),
        console=console,
    )


def _line(step: Step, val_nll: float | None) -> str:
    memory = step.cuda_allocated_peak if step.cuda_allocated_peak is not None else step.resident_peak
    of = "CUDA" if step.cuda_allocated_peak is not None else "resident"
    validated = "val –" if val_nll is None else f"val {val_nll:.4f}"
    return (
        f"step {step.step:,}/{step.steps:,}  loss {step.loss:.4f}  {validated}  "
        f"{step.tokens_per_second:,.0f} bases/s  peak {(memory or 0) / 2**30:.2f} GiB {of}"
    )
