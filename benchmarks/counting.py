"""What memory costs: counting a training split, and training, scoring and writing with it beside without it.

    python benchmarks/counting.py [--bases 20] [--rounds 3] [--json FILE]

Counting is timed on a synthetic genome of so many million bases, four tenths of it mutated copies of repeats, and told
for 100 million; process time of one thread. Ratios are of the tiny preset on the demo genome, in process time of all
threads: what memory looks up in threads of its own counts too.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from time import process_time

import numpy as np
import torch
from rows import Row, finish, interleaved

from dnagoat.config import Family, ModelConfig, RunConfig
from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import build, open_memory
from dnagoat.generation.continuation import generate
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import gather, to_inputs_targets
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.training.engine import Engine
from dnagoat.training.feed import Feed
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import Processes
from dnagoat.training.presets import configure
from dnagoat.training.step.loss import window_losses

FAMILIES: tuple[Family, ...] = ("words", "gaps", "copies")
WINDOW, BATCH = 512, 16
# What the exact orders (5 s), thirteen hashed tables (10 s each) and an index of copies (15 s) would be allowed.
ALLOWED = 5 + 13 * 10 + 15
HUNDRED = 100e6


def synthetic(folder: Path, bases: int) -> Dataset:
    """Random bases and, in between, copies of a hundred repeats of 300 bases that differ in a tenth."""
    dice = np.random.default_rng(0)
    text = dice.integers(0, 4, bases).astype(np.uint8)
    repeats = dice.integers(0, 4, (100, 300)).astype(np.uint8)
    for start in dice.integers(0, bases - 300, int(0.4 * bases / 300)):
        copy = repeats[dice.integers(100)].copy()
        hit = dice.random(300) < 0.1
        copy[hit] = dice.integers(0, 4, int(hit.sum()))
        text[start : start + 300] = copy
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)[text].tobytes()
    (folder / "genome.fa").write_bytes(b">a\n" + letters + b"\n>b\n" + letters[:5000][::-1] + b"\n")
    return prepare(folder / "genome.fa", folder / "synthetic", PrepareOptions(window=WINDOW, val=("b",)))


def seconds_to_count(dataset: Dataset, folder: Path) -> float:
    """Process time for 100 million bases; the compiled loops are warm."""
    folder.mkdir(exist_ok=True)
    began = process_time()
    build(dataset, dataset.spans("train"), folder)
    return (process_time() - began) * HUNDRED / int((dataset.spans("train") @ [-1, 1]).sum())


def counting(folder: Path, bases: int) -> Iterator[Row]:
    for name in ("small", "large"):
        (folder / name).mkdir()
    seconds_to_count(synthetic(folder / "small", 200_000), folder / "built")  # compiles
    seconds = seconds_to_count(synthetic(folder / "large", bases), folder / "built")
    detail = f"one table for every order, gap and copy, for 100 million bases, from {bases / 1e6:g} million"
    yield Row("counting", seconds, "s", ALLOWED, "<=", 1, detail)


def demo(folder: Path) -> Dataset:
    source = folder / "demo.fa"
    source.write_bytes(gzip.decompress((files("dnagoat.genome.fetch") / "demo.fa.gz").read_bytes()))
    names = [line[1:].split()[0] for line in source.read_text().splitlines() if line.startswith(">")]
    return prepare(source, folder / "data", PrepareOptions(window=WINDOW, val=(names[1],), test=(names[2],)))


def configured(dataset: Dataset, families: tuple[str, ...]) -> RunConfig:
    options = {"model.memory": families, "model.heads": 4, "train.precision": "bf16", "train.batch_size": BATCH}
    return configure("tiny", str(dataset.path), dataset.content_hash, WINDOW, options)


def training(dataset: Dataset, reader: Reader, families: tuple[str, ...]) -> Callable[[], object]:
    """One step, with what has to be looked up for it."""
    config = configured(dataset, families)
    engine, feed = Engine(config, Processes(0, 1, torch.device("cpu")), Execution()), Feed.of(dataset, config.train)

    def step() -> None:
        codes = feed.batch(1)
        said = [reader.read_training(to_inputs_targets(codes)[0], feed.starts_of(1))] if families else None
        engine.step(1, [codes], said)

    return step


def model_of(dataset: Dataset, reader: Reader, families: tuple[str, ...]) -> DnaLM:
    config: ModelConfig = configured(dataset, families).model
    model = DnaLM(config).eval()
    if model.memory is not None:
        model.memory.reader = lambda: reader
    return model


def write(model: DnaLM, prompts: Sequence[Codes]) -> None:
    for _ in generate(model, prompts, 64):
        pass


def ratios(dataset: Dataset, rounds: int) -> Iterator[Row]:
    reader = Reader(open_memory(dataset), FAMILIES)
    codes = gather(dataset.tokens, dataset.starts("test")[:32], WINDOW)
    symbols = to_inputs_targets(codes)[0]
    alone = interleaved({"reading": lambda: reader.read(reader.begin(32), symbols)}, rounds)["reading"]
    per_base = 1e6 * alone / symbols.size
    yield Row("looking up", per_base, "us/base", 16, "<=", rounds, "a million bases a second take 16 us on 16 cores")
    prompts = [row[:64] for row in codes[:16]]
    models = {name: model_of(dataset, reader, families) for name, families in (("with", FAMILIES), ("without", ()))}
    works: dict[str, tuple[float, dict[str, Callable[[], object]]]] = {
        "a training step": (
            1.3,
            {"with": training(dataset, reader, FAMILIES), "without": training(dataset, reader, ())},
        ),
        "scoring": (2.0, {name: partial(window_losses, model, codes) for name, model in models.items()}),
        "writing": (
            2.0,
            {name: partial(write, model, prompts) for name, model in models.items()},
        ),
    }
    for name, (bar, arms) in works.items():
        least = interleaved(arms, rounds)
        detail = f"{1000 * least['with']:.0f} ms with memory, {1000 * least['without']:.0f} ms without"
        yield Row(f"{name}, with / without", least["with"] / least["without"], "x", bar, "<=", rounds, detail)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds of what is timed")
    parser.add_argument("--bases", type=int, default=20, help="millions of bases that are counted")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [*counting(folder, given.bases * 1_000_000), *ratios(demo(folder), given.rounds)]
        finish(rows, given.json)


if __name__ == "__main__":
    main()
