"""How steps reach a logger besides metrics.jsonl: TensorBoard's event files, in RUN/tensorboard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dnagoat.errors import MissingError, OptionError
from dnagoat.files import plain_name
from dnagoat.training.kept.metrics import Step

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

SCALARS = (
    ("loss/train", "loss"),
    ("loss/validation", "val_nll"),
    ("optimizer/learning rate", "lr"),
    ("optimizer/gradient norm", "grad_norm"),
    ("speed/bases per second", "tokens_per_second"),
    ("memory/CUDA allocated", "cuda_allocated_peak"),
    ("memory/CUDA reserved", "cuda_reserved_peak"),
    ("memory/resident", "resident_peak"),
)


def log_steps(steps: Iterable[Step], run: Path, logger: str | None) -> Iterator[Step]:
    """The same steps, written to the logger as they pass; rows of an earlier sitting beyond the first are dropped."""
    if logger is None:
        yield from steps
        return
    if logger != "tensorboard":
        raise OptionError(f"--log {logger}: there is tensorboard; metrics.jsonl is always written")
    with ExitStack() as until_then:
        writer = None
        for step in steps:
            writer = writer or until_then.enter_context(_writer(run / "tensorboard", step.step))
            _write(writer, step)
            yield step


@contextmanager
def _writer(folder: Path, first: int) -> Iterator[SummaryWriter]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingError("--log tensorboard needs the extra: pip install 'dnagoat[tensorboard]'") from None
    folder.mkdir(exist_ok=True)
    with plain_name(folder) as name, SummaryWriter(name, purge_step=first) as writer:
        yield writer


def _write(writer: SummaryWriter, step: Step) -> None:
    for tag, name in SCALARS:
        if (value := getattr(step, name)) is not None:
            writer.add_scalar(tag, value, step.step)
    for name, values in (step.prior or {}).items():
        for place, value in enumerate(values):
            writer.add_scalar(f"prior/{name}/{place}", value, step.step)
