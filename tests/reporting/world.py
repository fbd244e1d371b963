"""What example runs are made from, once a session: a dataset, and of each scheme a model of a few steps, measured.

Everything here is written by the product itself: `prepare`, `train`, the measures.
"""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import torch
from numpy.typing import NDArray

import dnagoat
from dnagoat.config import ModelConfig, PositionConfig, RunConfig, TrainConfig
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures.strata import Group, groups
from dnagoat.evaluation.results import ensure
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.pieces import Pieces, blocks_of
from dnagoat.evaluation.scoring.scored import pieces_of
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.files import write_json, write_text
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.loop import train

PIECE = 512  # bases of a window, and of what the models read at once
BLOCKS = 48
BLOCK_BASES = 2_048
# In pieces. The second contig of the test split does not begin with a block, so that it has one more.
CONTIGS = {"train": 240, "val": 192, "test_a": 75, "test_b": 117}
OPTIONS = MeasureOptions(
    block=BLOCK_BASES, trajectory=TrajectoryOptions(prompts=40, samples=1, prompt_length=256, length=288)
)
REPEAT, APART, ALIKE = 300, 700, 0.97  # bases of a repeat and from one to the next, and how alike they are
FEW = OPTIONS.but(windows=4)  # of what a model has to read for itself
ASKED = {"lengths-test": OPTIONS.but(windows=2), "rc-test": FEW, "copying-test": FEW, "generation": OPTIONS}


@cache
def folder() -> Path:
    """A folder that goes away with the session."""
    path = Path(mkdtemp(prefix="dnagoat-tests-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@cache
def dataset() -> Dataset:
    """Random bases whose GC wanders, with a repeat in lower case now and then, and a copy of training in the test
    split."""
    dice = np.random.default_rng(8)
    family = dice.choice(list("ACGT"), REPEAT)
    written: list[tuple[str, NDArray[np.str_]]] = []
    for name, pieces in CONTIGS.items():
        gc = np.repeat(dice.uniform(0.3, 0.55, 4 * pieces), PIECE // 4)
        strong, which = dice.random(len(gc)) < gc, dice.random(len(gc)) < 0.5
        bases = np.where(strong, np.where(which, "C", "G"), np.where(which, "A", "T"))
        if name == "test_a":
            bases[1024:2048] = written[0][1][77_000:78_024]
            bases[1024:2048:150] = "A"
        for start in range(100, len(bases) - REPEAT, APART):
            own = dice.random(REPEAT) < ALIKE
            here = slice(start, start + REPEAT)
            bases[here] = np.char.lower(np.where(own, family, bases[here]))
        written.append((name, bases))
    source = folder() / "made.fa"
    write_text(source, "".join(f">{name}\n{''.join(bases)}\n" for name, bases in written))
    options = PrepareOptions(window=PIECE, val=("val",), test=("test_a", "test_b"))
    return prepare(source, folder() / "dataset", options)


@cache
def pieces(split: str) -> Pieces:
    return pieces_of(dataset(), OPTIONS.but(split=split))


@cache
def blocks(split: str) -> Ints:
    return blocks_of(dataset(), pieces(split), BLOCK_BASES)


@cache
def divisions() -> list[Group]:
    """The strata of the test split's bases."""
    empty = np.zeros(int(pieces("test").offsets[-1]), dtype=np.float32)
    return list(groups(dataset(), Scores(pieces("test"), empty, empty > 0), []))


def config_of(position: str, model: ModelConfig, **training: int | float) -> RunConfig:
    return RunConfig(
        preset="tiny",
        model=model.but(context=PIECE, position=PositionConfig(name=position)),
        train=TrainConfig(**training),
        dataset=str(dataset().path),
        dataset_hash=dataset().content_hash,
        tool_version=dnagoat.__version__,
    )


@cache
def parameters(model: ModelConfig) -> dict[str, int]:
    """How many weights a model of this size has, without one."""
    with torch.device("meta"):
        made = DnaLM(model)
    every = sum(weights.numel() for weights in made.parameters())
    position = sum(weights.numel() for weights in made.position_parameters().values())
    return {"all": every, "position": position, "content": every - position}


@cache
def measured(position: str) -> Run:
    """A model of two layers after three steps, with everything measured that a model has to read for."""
    small = ModelConfig(layers=2, mlp_width=64)
    config = config_of(position, small, steps=3, batch_size=2, warmup=1, eval_every=3, eval_windows=2)
    path = folder() / "runs" / position
    for _ in train(config, path, device="cpu", dataset=dataset()):
        pass
    run = open_run(path)
    for stem, options in ASKED.items():
        ensure(run, stem.removesuffix("-test"), options)
    return run


@cache
def with_prior(position: str, heads: int, layers: int) -> Run:
    """A model of so many heads that has another prior than it began with, measured."""
    config = config_of(position, ModelConfig(width=64 * heads, heads=heads, layers=layers), seed=0)
    path = folder() / "priors" / f"{position}-{heads}-{layers}"
    write_json(path / "config.json", config.model_dump(mode="json"))
    weights = weights_of(DnaLM(config.model, 1))
    save(path, Checkpoint(TrainingState(step=1, best_step=1, best_val_nll=1.4), weights), keep=1)
    run = open_run(path)
    ensure(run, "prior", OPTIONS)
    return run
