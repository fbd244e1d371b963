"""Which training windows are near-copies of held-out ones, and what is a dataset without them?

A held-out window is leaked where training holds half of its 32-mers or more (`NEAR`). A training window leaves where a
quarter of its own 32-mers or more (`PART`) stand in leaked windows: tiles of the two need not begin alike, so that a
copy of a window may lie half in one training window and half in the next. What overlaps a window that left goes too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import WindowError
from dnagoat.files import write_json, write_text
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Contig, Dataset, content_hash, open_dataset
from dnagoat.genome.leaks.leakage import NEAR, Counts, Held, compare_splits, leak_report, report_files
from dnagoat.genome.leaks.near_copies import Wanted, chunks
from dnagoat.genome.leaks.sampled_words import K
from dnagoat.genome.store.folder import MANIFEST
from dnagoat.genome.store.window_table import WindowTable, write_bed
from dnagoat.progress import StageProgress

PART: Final = 0.25  # of a training window's 32-mers in leaked windows: it leaves


def drop_copies(folder: Path, *, bed: bool, threads: int, progress: StageProgress) -> None:
    """Writes the dataset in `folder` anew without near-copies in training; its leak report before and after is kept.

    A `WindowError` where no training window is left.
    """
    dataset = open_dataset(folder)
    held = compare_splits(dataset, threads, progress)
    before = leak_report(dataset, held)
    starts = dataset.starts("train")
    dropped = starts[find_copies(dataset, held)]
    if len(dropped) and len(dropped) == len(starts):
        raise WindowError(
            "no training window is left without near-copies of held-out ones; leave out --drop-copies, or hold out "
            "other contigs"
        )
    contigs = [_without(contig, dropped, dataset.window) for contig in dataset.contigs]
    manifest, rules = dataset.manifest, dataset.manifest.rules
    table = WindowTable(folder, rules.window, rules.stride, rules.max_n)
    table.write(contigs, progress)
    if bed:
        write_bed(folder)
    changed = manifest.model_copy(
        update={
            "windows_sha256": table.sha256,
            "content_hash": content_hash(manifest.tokens_sha256, table.sha256, rules.window, contigs),
            "rules": rules.but(copies="drop"),
            "tally": manifest.tally.but(
                windows=table.kept, windows_too_many_n=table.dropped, windows_copies=len(starts) - table.kept["train"]
            ),
            "contigs": tuple(contigs),
            "leaks_before": before["splits"],
        }
    )
    write_text(folder / MANIFEST, changed.model_dump_json(indent=2) + "\n")
    left = open_dataset(folder)
    report = leak_report(left, compare_splits(left, threads, progress))
    write_json(report_files(folder, left.content_hash)[0], report)
    write_text(
        folder / MANIFEST,
        changed.model_copy(update={"leaks_after": report["splits"]}).model_dump_json(indent=2) + "\n",
    )


def find_copies(dataset: Dataset, held: Held) -> NDArray[np.bool_]:
    """Which training windows leave, (windows,)."""
    wanted = Wanted(np.concatenate([_leaked(held, place, dataset.window) for place in range(len(held.samples))]))
    counts = _in_training(dataset, held, wanted)
    return counts.judged & (counts.shared >= PART * counts.all)


def _leaked(held: Held, place: int, window: int) -> NDArray[np.uint64]:
    """The 32-mers that lie in leaked windows of a held-out split."""
    kmers, starts = held.samples[place].kmers, held.samples[place].starts
    leaked = held.counts(place, window).part >= NEAR
    edges = np.zeros(len(kmers.starts) + 1, dtype=np.int64)
    np.add.at(edges, np.searchsorted(kmers.starts, starts[leaked]), 1)
    np.add.at(edges, np.searchsorted(kmers.starts, starts[leaked] + window - K, side="right"), -1)
    return kmers.values[np.cumsum(edges)[:-1] > 0]


def _in_training(dataset: Dataset, held: Held, wanted: Wanted) -> Counts:
    """Of each training window: its sampled 32-mers, and those that are wanted."""
    starts, reach = dataset.starts("train"), dataset.window - K
    edges = np.zeros((2, len(starts) + 1), dtype=np.int64)

    def count(row: int, at: Ints) -> None:
        np.add.at(edges[row], np.searchsorted(starts, at - reach), 1)
        np.add.at(edges[row], np.searchsorted(starts, at, side="right"), -1)

    for chunk in chunks(dataset.spans("train")):
        kmers = held.reader.at(chunk)
        count(0, kmers.starts)
        count(1, wanted.among(kmers)[0].starts)
    every, shared = np.cumsum(edges, axis=1)[:, :-1]
    return Counts(every, shared)


def _without(contig: Contig, dropped: Ints, window: int) -> Contig:
    """The contig whose training spans leave out the windows that begin at `dropped`, ascending, in the store."""
    first, last = np.searchsorted(dropped, [contig.offset, contig.offset + contig.length])
    gone = (dropped[first:last] - contig.offset).tolist()
    if not gone:
        return contig
    spans: list[Any] = []
    for start, end, split in contig.spans:
        if split == "train":
            for at in (at for at in gone if start <= at < end):
                if at > start:
                    spans.append((start, at, split))
                start = max(start, at + window)
        if start < end:
            spans.append((start, end, split))
    return contig.model_copy(update={"spans": tuple(spans)})
