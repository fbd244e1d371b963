"""What is measured: one arm doing one thing at one size, and the grid of such jobs that a benchmark walks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal

from pydantic import Field

from dnagoat.attention.schemes.registry import DEFAULT
from dnagoat.config import ModelConfig, TrainConfig
from dnagoat.frozen import Frozen

What = Literal["train", "evaluate", "generate"]
Kernel = Literal["auto", "sdpa", "flash", "dense"]
Precision = Literal["fp32", "tf32", "bf16", "fp16"]
PEER = "goat-attention"  # the GOAT authors' own module in the place of our attention


class Job(Frozen):
    """One measurement: it runs in a process of its own, `warmup` calls outside the clock, then calls inside until there
    are `repeats` and they have taken `seconds`."""

    what: What
    arm: str = Field(description="a position scheme, or goat-attention")
    model: ModelConfig
    train: TrainConfig
    length: int = Field(ge=2, description="bases of a sequence; for generation, bases written")
    batch: int = Field(ge=1)
    precision: Precision = "fp32"
    kernel: Kernel = "auto"
    device: str = "cpu"
    warmup: int = Field(2, ge=0)
    repeats: int = Field(5, ge=1)
    seconds: float = Field(0.0, ge=0, description="a call may take milliseconds: what is timed takes as long at least")
    compiled: bool = Field(False, description="the model by torch.compile")
    seed: int = Field(0, ge=0)

    @property
    def setting(self) -> tuple[str, int, int, str, str]:
        """What arms that are compared have in common."""
        return self.what, self.length, self.batch, self.precision, self.kernel


def configured(model: ModelConfig, arm: str, length: int, kernel: Kernel) -> ModelConfig:
    """The model of an arm; the authors' module needs GOAT's settings, and replaces the attention later."""
    name = DEFAULT if arm == PEER else arm
    return model.but(context=length, kernel=kernel, position=model.position.but(name=name))


def grid(
    model: ModelConfig,
    train: TrainConfig,
    *,
    whats: Sequence[What],
    arms: Sequence[str],
    lengths: Sequence[int],
    batches: Sequence[int],
    precisions: Sequence[Precision],
    kernels: Sequence[Kernel],
    device: str,
    warmup: int,
    repeats: int,
    seconds: float = 0.0,
    compiled: bool = False,
) -> Iterator[Job]:
    """Every combination, with the arms innermost: arms that are compared run one after the other."""
    for what, length, batch, precision, kernel, arm in product(whats, lengths, batches, precisions, kernels, arms):
        yield Job(
            what=what,
            arm=arm,
            model=configured(model, arm, length, kernel),
            train=train.but(precision=precision, batch_size=batch),
            length=length,
            batch=batch,
            precision=precision,
            kernel=kernel,
            device=device,
            warmup=warmup,
            repeats=repeats,
            seconds=seconds,
            compiled=compiled,
        )
