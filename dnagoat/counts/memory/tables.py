"""The memory of a dataset on disk: its training split as a text, all places of it sorted, and what follows them.

    DATASET/memory/  memory.json  bases.npy  breaks.npy  first.npy  places.npy  blocks.npy

Written aside and renamed; mapped into memory, so that processes share one copy. `memory.json` says the format, of
which dataset it is (content hash), and which stretches of the token store it holds, at which position of the text.
"""

# n stretches

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.memory.experts import GAPS, SHORT
from dnagoat.counts.memory.following import BLOCK, fill
from dnagoat.counts.memory.places import BUCKETS, SEED_BASES, count_seeds, scatter, sort_places
from dnagoat.counts.memory.text import empty_text, put
from dnagoat.counts.memory.words import Tables
from dnagoat.errors import DatasetError
from dnagoat.files import read_json, write_json
from dnagoat.folders import NO_LOCKS
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset

FORMAT = 1
FOLDER, PASSPORT = "memory", "memory.json"
ARRAYS = ("bases", "breaks", "first", "places", "blocks")
BUDGET = 8.0  # GB
CHUNK = 1 << 20  # bases that are left out together where the budget is short
A_BASE = 2 * (4 + len(GAPS) / 2 + 3 / 8)  # bytes: both strands; a place, what follows it, base and break
FIXED = 4 * BUCKETS  # bytes
MOST_BASES = (1 << 31) - (1 << 20)  # a position takes 32 bits

ShareProgress = Callable[[float], None]  # told which share of the work is done


def silent(_: float) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Memory:
    """An opened memory; `stretches` (n, 3): start and end in the token store, first position in the text."""

    path: Path
    dataset_hash: str
    tables: Tables
    stretches: Ints
    left_out: int  # bases of the training split

    @property
    def name(self) -> str:
        """A hash of everything that decides what the tables hold: what a run is bound to."""
        said = f"{FORMAT} {self.dataset_hash} {self.stretches.tolist()}"
        return sha256(said.encode()).hexdigest()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The positions of the text at which token store [start, end) stands, as far as one stretch holds it."""
        row = int(np.searchsorted(self.stretches[:, 0], end, side="left")) - 1
        while row > 0 and self.stretches[row - 1, 1] > start:
            row -= 1  # of several that it touches, the first
        if row < 0:
            return 0, 0
        first, last, at = (int(x) for x in self.stretches[row])
        start, end = max(start, first), min(end, last)
        return (at + start - first, at + end - first) if start < end else (0, 0)


def chosen_stretches(dataset: Dataset, budget: float) -> tuple[Ints, int]:
    """Stretches (n, 2) of the training split that fit into `budget` GB, evenly spread, and how many bases do not."""
    spans = dataset.spans("train")
    total = int((spans[:, 1] - spans[:, 0]).sum())
    room = min((budget * 1e9 - FIXED) / A_BASE, MOST_BASES)
    if total <= room:
        return spans, 0
    share = room / total
    if share <= 0:
        raise DatasetError(
            f"--memory-budget {budget:g}: memory takes {FIXED / 1e9:.2f} GB and {A_BASE:.1f} bytes a base; give more"
        )
    chunks = [
        (start, min(start + CHUNK, int(end))) for begin, end in spans for start in range(int(begin), int(end), CHUNK)
    ]
    kept: list[list[int]] = []
    for i, (start, end) in enumerate(chunks):
        if int((i + 1) * share) == int(i * share):
            continue
        if kept and kept[-1][1] == start and (i and chunks[i - 1][1] == start) and start not in spans[:, 0]:
            kept[-1][1] = end
        else:
            kept.append([start, end])
    stretches = np.array(kept, dtype=np.int64).reshape(-1, 2)
    return stretches, total - int((stretches[:, 1] - stretches[:, 0]).sum())


def is_built(dataset: Dataset) -> bool:
    """Whether the dataset has a memory already."""
    return (dataset.path / FOLDER / PASSPORT).exists()


def bytes_on_disk(dataset: Dataset) -> int | None:
    """How large the tables are; None where they have not been built."""
    return sum(file.stat().st_size for file in (dataset.path / FOLDER).iterdir()) if is_built(dataset) else None


def open_memory(dataset: Dataset, budget: float = BUDGET, progress: ShareProgress = silent) -> Memory:
    """The memory of a dataset's training split, built where there is none; processes that ask together build once."""
    folder = dataset.path / FOLDER
    with _locked(dataset.path):
        if not is_built(dataset):
            _build(dataset, folder, budget, progress)
    return _opened(dataset, folder)


def _opened(dataset: Dataset, folder: Path) -> Memory:
    again = f"remove {folder}, and it is built anew"
    try:
        said = read_json(folder / PASSPORT)
        if said["format"] != FORMAT:
            raise DatasetError(f"{folder} has format {said['format']}, this version reads {FORMAT}; {again}")
        if said["dataset"] != dataset.content_hash:
            raise DatasetError(
                f"{folder} is the memory of dataset {said['dataset'][:12]}, not of {dataset.content_hash[:12]}; {again}"
            )
        arrays = [np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ARRAYS]
        if [list(array.shape) for array in arrays] != said["shapes"]:
            raise DatasetError(f"{folder} is damaged: an array has another shape than {PASSPORT} says; {again}")
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise DatasetError(f"{folder} cannot be read ({fault}); {again}") from None
    short = arrays[2][:: 4 ** (SEED_BASES - SHORT - 1)].copy()
    stretches = np.array(said["stretches"], dtype=np.int64).reshape(-1, 3)
    return Memory(folder, dataset.content_hash, Tables(*[*arrays, short]), stretches, said["left_out"])


def _build(dataset: Dataset, folder: Path, budget: float, progress: ShareProgress) -> None:
    stretches, left_out = chosen_stretches(dataset, budget)
    aside = folder.with_name(f".{FOLDER}.{os.getpid()}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir()
        said = {"format": FORMAT, "dataset": dataset.content_hash, "left_out": left_out}
        write_json(aside / PASSPORT, {**said, **build(dataset, stretches, aside, progress)})
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    except OSError as fault:
        raise DatasetError(
            f"{folder} cannot be written: {fault.strerror or fault}; make room, or copy the dataset to where it can be"
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def build(dataset: Dataset, stretches: Ints, folder: Path, progress: ShareProgress = silent) -> dict[str, Any]:
    """Writes the arrays into a folder; what its passport says of them."""
    bases, breaks, at = empty_text(stretches)
    for i, (start, end) in enumerate(stretches):
        progress(0.05 * i / len(stretches))
        put(bases, breaks, int(at[i]), np.asarray(dataset.tokens[start:end]))
    progress(0.05)
    first = count_seeds(bases, breaks)
    places = np.empty(int(first[-1]), np.uint32)
    progress(0.2)
    scatter(bases, breaks, first, places)
    step = BUCKETS // 64
    for seed in range(0, BUCKETS, step):
        progress(0.4 + 0.35 * seed / BUCKETS)
        sort_places(bases, first, places, seed, seed + step)
    progress(0.75)
    blocks = np.zeros((len(GAPS), len(places) // BLOCK + 1, 4), np.uint64)
    fill(bases, places, np.array(GAPS), blocks)
    arrays: list[NDArray[Any]] = [bases, breaks, first, places, blocks]
    for name, array in zip(ARRAYS, arrays, strict=True):
        np.save(folder / f"{name}.npy", array)
    progress(1)
    return {"stretches": np.column_stack([stretches, at]).tolist(), "shapes": [list(array.shape) for array in arrays]}


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time; the lock is on the dataset's folder itself and falls with its holder."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as fault:  # then two may build, and the later one takes the place of the other's
            if fault.errno not in NO_LOCKS:
                raise
        yield
    finally:
        os.close(lock)
