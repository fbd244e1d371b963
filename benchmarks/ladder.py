"""How long the yardsticks take, and whether they are right: Markov counts, check values on human DNA, the bootstrap.

    python benchmarks/ladder.py [--rounds 1] [--json FILE]

Chromosomes 20 and 21 of GRCh37 are read from the folder in DNAGOAT_SHARED (or `shared` beside the checkout) and their
rows are skipped where it is absent. One thread, process time; memory is the peak of the whole process.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np
import torch
from rows import Row, finish, options

from dnagoat.counts.markov import count, interpolated
from dnagoat.evaluation.scoring.intervals import block_bootstraps
from dnagoat.genome.alphabet import Codes, encode
from dnagoat.measure.peaks import read_peaks, reset_peaks

SHARED = Path(os.environ.get("DNAGOAT_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
CPU = torch.device("cpu")
BASES = 100_000_000
# Nats a base of orders 0 to 12, measured independently: both strands of chromosome 20 counted, 256 windows of 512 bases
# of chromosome 21 scored.
EXPECTED = (1.372, 1.344, 1.335, 1.332, 1.327, 1.322, 1.313, 1.302, 1.286, 1.273, 1.260, 1.254, 1.255)


def chromosome(name: str) -> Codes:
    text = gzip.decompress((SHARED / name).read_bytes())
    return encode(text[text.index(b"\n") :].replace(b"\n", b""))


def counting(codes: Codes, source: str, rounds: int) -> Iterator[Row]:
    """Seconds and peak memory of counting 100 million known bases at orders 0 to 12."""
    least = float("inf")
    reset_peaks(CPU)
    for _ in range(rounds):
        start = process_time()
        counted = count([codes])
        least = min(least, process_time() - start)
        bases = counted.bases
        del counted
    peak = read_peaks(CPU)["resident_peak"]
    yield Row("count 100 Mb, orders 0-12", least, "s", 30, "<=", rounds, f"{bases:,} known bases of {source}")
    yield Row("its peak memory", None if peak is None else peak / 1e9, "GB", 2, "<=", rounds, "resident, whole process")


def checked(chr20: Codes, chr21: Codes) -> Row:
    """The largest difference from the check values over orders 0 to 12."""
    tables = count([chr20])
    rng = np.random.default_rng(7)
    starts: list[int] = []
    while len(starts) < 256:
        start = int(rng.integers(9_500_000, len(chr21) - 9000))
        if np.mean(chr21[start : start + 8193] == 4) < 0.01:
            starts.append(start)
    windows = np.stack([chr21[start : start + 513] for start in starts])
    measured = [float(-np.nanmean(np.log(chances[:, k:]))) for k, chances in enumerate(interpolated(tables, windows))]
    worst = max(abs(mine - theirs) for mine, theirs in zip(measured, EXPECTED, strict=True))
    detail = " ".join(f"{value:.4f}" for value in measured)
    return Row("check values, worst miss", worst, "nats", 0.01, "<=", 1, detail)


def bootstrapped(rounds: int) -> Row:
    """2,000 resamples of 5,000 blocks (100 Mb of genome), 35 columns: a model, 17 baselines and 17 gains."""
    rng = np.random.default_rng(0)
    sums, counts = rng.random((100_000, 35)), np.full(100_000, 1000)
    blocks = np.arange(100_000) // 20
    least = float("inf")
    for _ in range(rounds):
        start = process_time()
        block_bootstraps(sums, counts, blocks, resamples=2000)
        least = min(least, process_time() - start)
    return Row("bootstrap, 5,000 blocks", least, "s", 10, "<=", rounds, "2,000 resamples, 35 columns")


def rows(rounds: int) -> Iterator[Row]:
    names = ("human_GRCh37_chr20.fa.gz", "human_hg19_chr21_softmasked.fa.gz")
    if all((SHARED / name).exists() for name in names):
        chr20, chr21 = map(chromosome, names)
        both = np.concatenate([chr20, chr21])
        enough = int(np.searchsorted(np.cumsum(both < 4), BASES)) + 1
        yield from counting(both[:enough], "chromosomes 20 and 21", rounds)
        yield checked(chr20, chr21)
    else:
        random = np.random.default_rng(0).integers(0, 4, BASES, dtype=np.uint8)
        yield from counting(random, f"random bases (no chromosomes in {SHARED})", rounds)
        yield Row("check values, worst miss", None, "nats", 0.01, "<=", 0, f"no chromosomes in {SHARED}")
    yield bootstrapped(rounds)


if __name__ == "__main__":
    given = options(__doc__ or "", rounds=1)
    torch.set_num_threads(1)
    finish(rows(given.rounds), given.json)
