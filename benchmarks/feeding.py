"""What feeding costs: whole batches gathered from the token store, beside pyfaidx read item by item.

    python benchmarks/feeding.py [--rounds 5] [--json FILE]

Both arms give the same inputs and targets (64 windows of 1,024 bases, some reverse-complemented, random order) of the
demo genome; pyfaidx keeps its file open and reads by its index. One process, one thread, process time.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from pyfaidx import Fasta
from rows import Row, finish, interleaved, options

from dnagoat.config import TrainConfig
from dnagoat.genome.alphabet import encode, reverse_complement
from dnagoat.genome.batches import sample, shifted, to_inputs_targets
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.feed import Feed

BATCH, WINDOW, JITTER, STEPS = 64, 1024, 100, 64
Pairs = Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def ours(feed: Feed) -> Pairs:
    """As training does it; what is drawn for several steps at once is drawn anew."""
    feed = replace(feed, drawn={})
    for step in range(1, STEPS + 1):
        yield to_inputs_targets(feed.batch(step))


def by_item(fasta: Fasta, feed: Feed) -> Pairs:
    """The usual loader: a string an item, encoded, flipped by its coin, stacked."""
    for step in range(1, STEPS + 1):
        index = np.arange((step - 1) * BATCH, step * BATCH)
        drawn = sample(feed.train.seed, index, len(feed.starts), JITTER)
        starts = shifted(feed.starts[drawn.windows], drawn.shifts, feed.room[drawn.windows])
        items = []
        for start, flip in zip(starts, drawn.reverse_complement, strict=True):
            contig, offset = feed.dataset.locate(int(start))
            codes = encode(str(fasta[contig.name][offset : offset + WINDOW]))
            items.append(reverse_complement(codes) if flip else codes)
        yield to_inputs_targets(np.stack(items))


def consumed(pairs: Pairs) -> None:
    for _ in pairs:
        pass


def rows(dataset: Dataset, fasta: Fasta, rounds: int) -> Iterator[Row]:
    feed = Feed.of(dataset, TrainConfig(batch_size=BATCH, jitter=JITTER))
    for mine, theirs in zip(ours(feed), by_item(fasta, feed), strict=True):
        if not all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)):
            raise SystemExit("the two arms do not give the same batches")
    least = interleaved(
        {"ours": lambda: consumed(ours(feed)), "pyfaidx": lambda: consumed(by_item(fasta, feed))}, rounds
    )
    per_batch = {name: 1000 * seconds / STEPS for name, seconds in least.items()}
    yield Row(
        f"pyfaidx / ours, batch {BATCH}",
        per_batch["pyfaidx"] / per_batch["ours"],
        "x",
        10,
        ">=",
        rounds,
        f"{per_batch['pyfaidx']:.2f} ms and {per_batch['ours']:.2f} ms a batch of {BATCH} x {WINDOW:,} bases",
    )


def main() -> None:
    given = options(__doc__.splitlines()[0], rounds=5)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "demo.fa"
        source.write_bytes(gzip.decompress((files("dnagoat.genome.fetch") / "demo.fa.gz").read_bytes()))
        names = [line[1:].split()[0] for line in source.read_text().splitlines() if line.startswith(">")]
        options_ = PrepareOptions(window=WINDOW, val=(names[1],), test=(names[2],))
        dataset = prepare(source, Path(folder) / "data", options_)
        finish(rows(dataset, Fasta(str(source)), given.rounds), given.json)


if __name__ == "__main__":
    main()
