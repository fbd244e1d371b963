"""What is counted memory worth without a transformer? Trains the part of a model that weighs it, alone.

    python benchmarks/mixer_alone.py DATASET [--seeds 3] [--steps 600] [--lr 1e-3] [--json FILE]

A model of one block whose attention and MLP write nothing, and never learn to, is the embedding of the last base and
the memory. Windows, rates, schedule and the test blocks are those of `dnagoat compare --preset tiny --batch-size 16
--schedule linear --windows 700`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from rows import Row, finish

from dnagoat import open_dataset
from dnagoat.config import Family
from dnagoat.counts.memory.opening import open_reader
from dnagoat.genome.batches import gather
from dnagoat.genome.dataset import Dataset
from dnagoat.training.engine import Engine
from dnagoat.training.feed import Feed, spread
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import processes
from dnagoat.training.memory_feed import look_up_ahead
from dnagoat.training.presets import configure
from dnagoat.training.step.loss import window_losses

FAMILIES: tuple[Family, ...] = ("words", "gaps", "copies")
BATCH = 20  # windows that are scored at once
GECO3 = 1.169  # chromosomes 20 -> 21, by compressors.py


def mixer_nll(dataset: Dataset, steps: int, lr: float, seed: int, windows: int) -> float:
    """Test NLL in nats per base after training."""
    settings = {
        "model.layers": 1,
        "model.memory": FAMILIES,
        "model.position.name": "nope",
        "train.steps": steps,
        "train.batch_size": 16,
        "train.schedule": "linear",
        "train.lr": lr,
        "train.seed": seed,
        "train.precision": "bf16",
    }
    config = configure("tiny", str(dataset.path), dataset.content_hash, dataset.window, settings)
    reader = open_reader(FAMILIES, dataset)
    with processes("cpu") as group:
        engine = Engine(config, group, Execution(), None, reader)
        for written in (engine.model.blocks[0].attention.out, engine.model.blocks[0].mlp.down):  # type: ignore[union-attr]
            torch.nn.init.zeros_(written.weight)  # type: ignore[union-attr, arg-type]
            written.weight.requires_grad_(False)  # type: ignore[union-attr]
        feed = Feed.of(dataset, config.train)
        memory = look_up_ahead(feed, reader)
        for step in range(1, steps + 1):
            engine.step(step, feed.micro_batches(step), memory.of(step))
        memory.close()
        engine.model.eval()
        codes = gather(dataset.tokens, spread(dataset.starts("test"), windows), dataset.window)
        losses = [
            window_losses(engine.model, part).double() for part in np.split(codes, range(BATCH, len(codes), BATCH))
        ]
        return float(torch.cat(losses).mean())  # test windows hold no N


def row_of(dataset: Dataset, steps: int, lr: float, seed: int, windows: int) -> Row:
    began = time.process_time()
    nll = mixer_nll(dataset, steps, lr, seed, windows)
    spent = f"{windows} windows of {dataset.window}, {time.process_time() - began:.0f} s of processor"
    return Row(f"mixer alone, seed {seed}", nll, "nats", GECO3, "<=", 1, spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--windows", type=int, default=700)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    dataset = open_dataset(given.dataset)
    finish((row_of(dataset, given.steps, given.lr, seed, given.windows) for seed in range(given.seeds)), given.json)


if __name__ == "__main__":
    main()
