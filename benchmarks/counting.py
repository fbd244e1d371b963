"""What memory costs: counting a training split, and training, scoring and writing with it beside without it.

    python benchmarks/counting.py [--bases 2e7] [--budget 8] [--rounds 3] [--only counting] [--json FILE]

Counting is timed on a synthetic genome of so many bases, four tenths of it mutated copies of repeats, as far as the
budget in GB holds it, and told for 100 million; process time of one thread. Ratios are of the tiny preset on the demo
genome, in process time of all threads: what memory looks up in threads of its own counts too.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from time import process_time

import numpy as np
import torch
from rows import Row, finish, interleaved

from dnagoat.config import Family, ModelConfig, RunConfig
from dnagoat.counts.memory.budget import plan_memory
from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import BUDGET, open_memory
from dnagoat.generation.continuation import generate
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import gather, to_inputs_targets
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.model.transformer import DnaLM
from dnagoat.training.engine import Engine
from dnagoat.training.feed import Feed
from dnagoat.training.kept.metrics import forget_peaks, resident_peak
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import Processes
from dnagoat.training.presets import configure
from dnagoat.training.step.loss import window_losses

FAMILIES: tuple[Family, ...] = ("words", "gaps", "copies")
WINDOW, BATCH = 512, 16
CONTIG = 100_000_000  # bases of a synthetic contig
# What the exact orders (5 s), thirteen hashed tables (10 s each) and an index of copies (15 s) would be allowed.
ALLOWED = 5 + 13 * 10 + 15
HUNDRED = 100e6


def synthetic(folder: Path, bases: int) -> Dataset:
    """Random bases and, in between, copies of a hundred repeats of 300 bases that differ in a tenth; one contig after
    the other, so that a large genome is never in memory."""
    folder.mkdir()
    dice = np.random.default_rng(0)
    repeats = dice.integers(0, 4, (100, 300), dtype=np.uint8)
    with (folder / "genome.fa").open("wb") as out:
        for start in range(0, bases, CONTIG):
            letters = contig(dice, repeats, min(CONTIG, bases - start))
            out.write(b">c%d\n%s\n" % (start // CONTIG, letters))
        out.write(b">held_out\n%s\n" % letters[:5000][::-1])
    dataset = prepare(folder / "genome.fa", folder / "synthetic", PrepareOptions(window=WINDOW, val=("held_out",)))
    (folder / "genome.fa").unlink()
    return dataset


def contig(dice: np.random.Generator, repeats: Codes, bases: int) -> bytes:
    text = dice.integers(0, 4, bases, dtype=np.uint8)
    for start in dice.integers(0, bases - 300, int(0.4 * bases / 300)).tolist():
        copy = repeats[dice.integers(100)].copy()
        hit = dice.random(300) < 0.1
        copy[hit] = dice.integers(0, 4, int(hit.sum()), dtype=np.uint8)
        text[start : start + 300] = copy
    return np.frombuffer(b"ACGT", dtype=np.uint8)[text].tobytes()


def counting(folder: Path, bases: int, budget: float) -> Iterator[Row]:
    open_memory(synthetic(folder / "small", 200_000))  # compiles
    dataset = synthetic(folder / "large", bases)
    planned = plan_memory(dataset, budget)
    forget_peaks(torch.device("cpu"))
    began = process_time()
    memory = open_memory(dataset, budget)
    seconds = process_time() - began
    held = f"{planned.held / 1e6:,.0f} of {bases / 1e6:,.0f} million bases"
    told = f"{seconds:.0f} s for {held}, {planned.left_out:,} left out"
    yield Row("counting", seconds * HUNDRED / planned.held, "s", ALLOWED, "<=", 1, f"for 100 million bases; {told}")
    yield Row("peak of resident memory", resident_peak() / 1e9, "GB", 1.2 * budget + 1, "<=", 1, "while it was counted")
    on_disk = sum(file.stat().st_size for file in memory.path.iterdir()) / 1e9
    detail = f"{planned.bytes / 1e9:.2f} GB were planned, in {planned.seconds:.0f} s"
    yield Row("tables on disk", on_disk, "GB", budget, "<=", 1, detail)


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
    parser.add_argument("--bases", type=float, default=2e7, help="bases of the synthetic genome")
    parser.add_argument("--budget", type=float, default=BUDGET, help="most that its memory may take, in GB")
    parser.add_argument("--only", choices=["counting"], help="leave out training, scoring and writing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = counting(folder, int(given.bases), given.budget)
        finish(rows if given.only else chain(rows, ratios(demo(folder), given.rounds)), given.json)


if __name__ == "__main__":
    main()
