"""An example as crowded as comparisons get: many arms, long names, four heads, three seeds, failures in a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dnagoat.config import ModelConfig, RunConfig, TrainConfig
from dnagoat.evaluation.comparison.arms import COMPARISON
from dnagoat.files import write_json
from dnagoat.measure.benchmark import PUBLISHED, row_of
from dnagoat.measure.job import Job, Kernel
from dnagoat.measure.trial import NO_MEMORY, REFUSED
from tests.reporting import example
from tests.reporting.inspected import result

ARMS = {
    "rope": "rope",
    "goat@init=seeded@rank=4": "goat",
    "rope@convolution=4": "rope",
    "goat+rope@init=distances": "goat+rope",
    "alibi@heads=4": "alibi",
    "goat@init=spectrum@rank=16": "goat",
    "sinusoidal@lr=0.0003": "sinusoidal",
    "goat@init=uniform@rank=2": "goat",
}
INSPECTED = 2  # arms, in the eight layers and eight heads of the authors' model
LATER = tuple(name for name in example.MEASURES)


def crowd(folder: Path, arms: int = 4, *, steps: int = 900, inspected: int = INSPECTED) -> tuple[Path, Path]:
    """A comparison of the first `arms` arms over three seeds, the first of each measured; and a benchmark of them."""
    names = list(ARMS)[:arms]
    levels = {name: 1.31 - 0.004 * place for place, name in enumerate(names)}
    runs = {name: [folder / f"{name}-s{seed}" for seed in range(3)] for name in names}
    for name, paths in runs.items():
        for seed, path in enumerate(paths):
            example.run(path, _config(ARMS[name], seed, steps), levels[name], missing=LATER if seed else ())
    for name in names[:inspected]:
        write_json(runs[name][0] / "evaluation" / "inspect.json", result(ARMS[name], layers=8, heads=8))
    command = "dnagoat compare data/demo --out compare"
    write_json(folder / COMPARISON, example.judged(runs, levels, blocks=48) | {"command": command})
    write_json(folder / "bench.json", bench(names))
    return folder, folder / "bench.json"


def _config(position: str, seed: int, steps: int) -> RunConfig:
    plain = example.config(position, seed=seed, steps=steps)
    return plain.but(model=plain.model.but(width=256, heads=4))


def bench(names: list[str]) -> dict[str, Any]:
    """Rows of two kernels on a GPU: all is well, a later round out of memory, no memory at all, refused."""

    def job(arm: str, kernel: Kernel = "auto") -> Job:
        return Job(
            what="train", arm=arm, model=ModelConfig(), train=TrainConfig(), length=8192, batch=8, precision="bf16",
            kernel=kernel, device="cuda", repeats=5,
        )  # fmt: skip

    def good(of: Job, kernel: str = "sdpa, flash on CUDA") -> dict[str, Any]:
        peaks = (2_860_000_000, 3_000_000_000)
        return example.trial(of, 138_000.0, kernel=kernel, device="NVIDIA A100", cuda=peaks)

    none = {"outcome": NO_MEMORY}
    refused = {"outcome": REFUSED, "why": "rope with a convolution has no dense kernel; use auto"}
    rows = [row_of(job(name), [good(job(name))] * 3) for name in names[:-1]]
    rows += [row_of(job(names[-1]), [good(job(names[-1])), none])]
    rows += [row_of(job(names[0], "dense"), [good(job(names[0]), "dense")] * 3)]
    rows += [row_of(job(names[1], "dense"), [none]), row_of(job(names[2], "dense"), [refused])]
    return example.benchmark(rows, "dnagoat bench --paper --out bench.json", list(PUBLISHED))
