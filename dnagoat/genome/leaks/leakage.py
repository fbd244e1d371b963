"""How much of validation and test has a near-copy in training? By the share of a window's 32-mers that train holds too.

At identity p a share of about p^32 of the 32-mers survives, so half of them means about 98 % identity along the
window. Only the held-out sample is kept in memory: train is streamed past it, whatever its size.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dnagoat import __version__
from dnagoat.errors import DatasetError
from dnagoat.files import read_json, write_json
from dnagoat.folders import why_not_writable
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.leaks.near_copies import Reader, Search, Wanted, best_place
from dnagoat.genome.leaks.sampled_words import K, Kmers
from dnagoat.genome.windows import HELD_OUT, Split
from dnagoat.progress import StageProgress

NEAR: Final = 0.5  # of a window's 32-mers in train: a near-copy
SAME: Final = 0.95  # all but the same
FEWEST: Final = 8  # sampled 32-mers that a window must have to be judged
_MOST: Final = 16_000_000  # 32-mers of the held-out splits that are kept in memory, at 18 bytes each
_PAIRS: Final = 10  # worst windows that are shown: so many of all, and so many judged outside repeats


@dataclass(frozen=True)
class Sample:
    """The sampled 32-mers of one held-out split, and its windows' starts in the store."""

    split: Split
    starts: Ints
    kmers: Kmers

    def of_window(self, number: int, width: int) -> Kmers:
        """The 32-mers that lie wholly in a window."""
        start = self.starts[number]
        first, last = np.searchsorted(self.kmers.starts, [start, start + width - K + 1])
        return self.kmers.where(slice(first, last))


@dataclass(frozen=True)
class Counts:
    """For each window: its sampled 32-mers, and how many of them train holds."""

    all: Ints
    shared: Ints

    @property
    def judged(self) -> NDArray[np.bool_]:
        return self.all >= FEWEST

    @property
    def part(self) -> NDArray[np.float64]:
        """The share that train holds; 0 where there are too few to tell."""
        return np.where(self.judged, self.shared / np.maximum(self.all, 1), 0.0)

    def shares(self) -> dict[str, Any]:
        """Windows that could be judged, and of those the share with anything in common, near-copies and copies."""
        if not self.judged.any():
            return {"windows": len(self.all), "judged": 0, "any": None, "near": None, "same": None, "shared": None}
        part = self.part[self.judged]
        return {
            "windows": len(self.all),
            "judged": int(self.judged.sum()),
            "any": float((part > 0).mean()),
            "near": float((part >= NEAR).mean()),
            "same": float((part >= SAME).mean()),
            "shared": float(self.shared[self.judged].sum() / self.all[self.judged].sum()),
        }


def leakage(
    dataset: Dataset, *, results: Path | None = None, threads: int = 2, progress: StageProgress = lambda _: None
) -> dict[str, Any]:
    """The leak report of a dataset, kept in its folder as leakage.json and made anew where the content differs.

    `results` is a folder that takes it where the dataset cannot be written; a `DatasetError` says so before the search.
    """
    place = dataset.path, dataset.content_hash, results
    if (kept := kept_leakage(*place)) is not None:
        return kept
    require_room(*place)
    report = leak_report(dataset, compare_splits(dataset, threads, progress))
    write_json(report_files(*place)[0], report)
    return report


@dataclass(frozen=True)
class Held:
    """The 32-mers of the held-out splits, and which of their values training holds."""

    one_in: int
    reader: Reader
    search: Search
    samples: list[Sample]
    found: NDArray[np.uint64]

    def counts(self, place: int, window: int, chosen: NDArray[np.bool_] | None = None) -> Counts:
        """Of the windows of a held-out split; of the `chosen` 32-mers alone, or of all."""
        sample = self.samples[place]
        hits = np.isin(sample.kmers.values, self.found, kind="sort")
        return _counts(sample, hits, window, np.ones(len(hits), dtype=bool) if chosen is None else chosen)


def compare_splits(dataset: Dataset, threads: int, progress: StageProgress) -> Held:
    """Streams training past the held-out splits; a `DatasetError` where windows are too short for it."""
    if dataset.window < 2 * K:
        raise DatasetError(
            f"{dataset.path} has windows of {dataset.window} bases; the leak report compares {K}-mers and needs {2 * K}"
        )
    one_in = _one_in(dataset)
    reader = Reader(dataset, one_in)
    search = Search(reader, dataset.spans("train"), threads, progress)
    samples = [Sample(split, dataset.starts(split), reader.whole(dataset.spans(split))) for split in HELD_OUT]
    wanted = Wanted(np.concatenate([sample.kmers.values for sample in samples]))
    return Held(one_in, reader, search, samples, wanted.values[search.present(wanted)])


def leak_report(dataset: Dataset, held: Held) -> dict[str, Any]:
    """What of the held-out windows training holds too, as it is kept."""
    splits: dict[str, Any] = {}
    worst: list[tuple[Sample, int]] = []
    for place, sample in enumerate(held.samples):
        overall = held.counts(place, dataset.window)
        outside = held.counts(place, dataset.window, sample.kmers.unique)
        splits[sample.split] = {"overall": overall.shares(), "outside_repeats": outside.shares()}
        chosen = dict.fromkeys(_worst(outside) + _worst(overall))
        worst += [(sample, window) for window in chosen]
    return {
        "format": 1,
        "measure": "leakage",
        "dataset_hash": dataset.content_hash,
        "tool_version": __version__,
        "k": K,
        "one_in": held.one_in,
        "near": NEAR,
        "same": SAME,
        "splits": splits,
        "pairs": _pairs(dataset, held.search, worst),
    }


def _one_in(dataset: Dataset) -> int:
    """One 32-mer in how many is looked at: about 64 a window, fewer where the held-out splits are very large."""
    usual = max(1, min(16, dataset.window // 64))
    held_out = sum(int((end - start).sum()) for start, end in (dataset.spans(split).T for split in HELD_OUT))
    return max(usual, min(-(-held_out // _MOST), dataset.window // (2 * FEWEST)))


def _counts(sample: Sample, hits: NDArray[np.bool_], window: int, chosen: NDArray[np.bool_]) -> Counts:
    first = np.searchsorted(sample.kmers.starts, sample.starts)
    last = np.searchsorted(sample.kmers.starts, sample.starts + window - K, side="right")

    def within(flags: NDArray[np.bool_]) -> Ints:
        before = np.concatenate([[0], np.cumsum(flags, dtype=np.int64)])
        inside: Ints = before[last] - before[first]
        return inside

    return Counts(within(chosen), within(chosen & hits))


def _worst(counts: Counts) -> list[int]:
    """Numbers of the near-copies that share most, the more 32-mers the better, none right beside another."""
    chosen: list[int] = []
    for window in np.lexsort((-counts.all, -counts.part)).tolist():
        if counts.part[window] < NEAR or len(chosen) == _PAIRS:
            break
        if all(abs(window - other) > 1 for other in chosen):
            chosen.append(window)
    return chosen


def _pairs(dataset: Dataset, search: Search, windows: list[tuple[Sample, int]]) -> list[dict[str, Any]]:
    """For each window the stretch of train that shares most of its 32-mers, the worst first."""
    own = [sample.of_window(window, dataset.window) for sample, window in windows]
    places = search.places(Wanted(Kmers.joined(own).values))
    rows = []
    for (sample, window), kmers in zip(windows, own, strict=True):
        best = best_place(kmers, places, dataset.window)
        assert best is not None, "a window was chosen because train holds half of it"
        contig, start = dataset.locate(int(sample.starts[window]))
        train, at = dataset.locate(best.start)
        rows.append(
            {
                "split": sample.split,
                "contig": contig.name,
                "start": start,
                "end": start + dataset.window,
                "train_contig": train.name,
                "train_start": at,
                "train_end": at + best.end - best.start,
                "place": contig.place(start, start + dataset.window),
                "train_place": train.place(at, at + best.end - best.start),
                "strand": best.strand,
                "shared": best.shared / len(kmers.values),
                "kmers": len(kmers.values),
                "outside_repeats": float(kmers.unique.mean()),
            }
        )
    return sorted(rows, key=lambda row: -row["shared"])


def report_files(path: Path, content_hash: str, results: Path | None = None) -> tuple[Path, ...]:
    """Where the leak report of the dataset in `path` may lie: first the file that a new one goes to."""
    own = path / "leakage.json"
    return (own,) if results is None else (results / f"leakage-{content_hash[:12]}.json", own)


def kept_leakage(path: Path, content_hash: str, results: Path | None = None) -> dict[str, Any] | None:
    """The report of the dataset in `path`, if it is of this very content, or None."""
    for file in report_files(path, content_hash, results):
        if file.exists():
            report: dict[str, Any] = read_json(file)
            if report.get("dataset_hash") == content_hash and report.get("format") == 1:
                return report
    return None


def require_room(path: Path, content_hash: str, results: Path | None = None) -> None:
    """A `DatasetError` where no leak report can be kept."""
    folder = report_files(path, content_hash, results)[0].parent
    if (why := why_not_writable(folder)) is not None:
        way = "another --results" if results is not None else "--results DIR to keep it elsewhere"
        raise DatasetError(f"{folder} cannot be written ({why}), and the leak report is kept there; give {way}")
