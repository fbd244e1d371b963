"""What the front door's functions may be given by keyword: the fields of the rooms' own options, typed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from dnagoat.evaluation.written.trajectory import TrajectoryOptions
    from dnagoat.training.kept.run import Which

Result = dict[str, Any]
Place = Path | str


class Rules(TypedDict, total=False):
    """The fields of `dnagoat.genome.preparation.PrepareOptions`; what is left out has its default."""

    window: int
    stride: int | None
    val: tuple[str, ...]
    test: tuple[str, ...]
    split: Literal["contig", "blocks"]
    max_n: float
    gaps: Literal["refuse", "drop"]
    contigs: Literal["primary", "all"]
    overlaps: Literal["refuse", "trim"]
    copies: Literal["keep", "drop"]
    regions: Path | None
    catalogue: Path | None
    offline: bool
    workers: int
    bed: bool
    force: bool


class Asked(TypedDict, total=False):
    """The fields of `dnagoat.evaluation.results.MeasureOptions`; what is left out has its default."""

    split: Literal["train", "val", "test"]
    which: Which
    seed: int
    device: str
    batch_size: int | None
    dataset: Path | None
    other_dataset: Path | None
    fresh: bool
    windows: int | None
    context: int | None
    stride: int | None
    precision: Literal["tf32", "bf16"] | None
    block: int
    resamples: int
    strata: tuple[Path, ...]
    lengths: tuple[str, ...]
    trajectory: TrajectoryOptions


class Embedded(TypedDict, total=False):
    """What `embed` is asked: one of `regions` (with `genome`), `split` and `sequences`; then how."""

    regions: Place | None
    genome: Place | None
    split: Literal["train", "val", "test"] | None
    windows: int | None
    sequences: Path | Mapping[str, str] | None
    dataset: Place | None
    layer: str
    pool: Literal["mean", "last"]
    strands: Literal["own", "both"]
    context: int | None
    stride: int | None
    before: int | None
    checkpoint: Which
    device: str
    batch_size: int


class Linear(TypedDict, total=False):
    """The fields of `dnagoat.evaluation.probes.linear.regression.LinearOptions`; what is left out has its default."""

    layer: str
    pool: Literal["mean", "last"]
    strands: Literal["own", "both"]
    by: Literal["split", "contig", "block"]
    folds: int
    most: int
    block: int
    resamples: int
    seed: int
    which: Which
    device: str
    batch_size: int


class Sampling(TypedDict, total=False):
    """The fields of `dnagoat.generation.sampling.SamplingOptions`; what is left out has its default."""

    temperature: float
    top_k: int | None
    top_p: float | None
    ban_motifs: tuple[str, ...]
    gc_target: float | None
    memory_strength: float | None
    seed: int


def hear_nothing(_: object) -> None:
    """The listener who is not there."""


def never_stop() -> None:
    """The signal that never comes."""
