"""Is a dataset still what its manifest says? Every hash and count is taken again from the files."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dnagoat.files import hash_file
from dnagoat.genome.alphabet import CODE, MASKED, C, G, N
from dnagoat.genome.dataset import Dataset, content_hash
from dnagoat.genome.store.folder import TOKENS
from dnagoat.genome.store.tokens import read_tokens
from dnagoat.genome.store.window_table import digest
from dnagoat.genome.windows import SPLITS
from dnagoat.progress import Stage, StageProgress

_AT_ONCE = 1 << 20


class Check(NamedTuple):
    """One thing that was looked at; `found` and `expected` are shown where it fails."""

    name: str
    found: str
    expected: str

    @property
    def holds(self) -> bool:
        return self.found == self.expected


def verify(dataset: Dataset, source: Path | None = None, progress: StageProgress = lambda _: None) -> list[Check]:
    """Checks of the store, the windows, the content hash, and of the source file where it is given."""
    manifest = dataset.manifest
    tokens, counts = _store(dataset, progress)
    windows = _windows(dataset)
    contigs, kept = dataset.contigs, {split: len(dataset.starts(split)) for split in SPLITS}
    checks = [
        Check("hash of tokens.u8", tokens, manifest.tokens_sha256),
        Check("bases, N, GC, soft-masked", counts, _counts(*(sum(getattr(c, of) for c in contigs) for of in _OF))),
        Check("contigs end to end", str(_places(dataset)), str(manifest.tally.bases)),
        Check("hash of windows.parquet", windows, manifest.windows_sha256),
        Check("windows of each split", str(kept), str(dict(manifest.tally.windows))),
        Check("windows inside their spans", str(_outside(dataset)), "0"),
        Check("content hash", content_hash(tokens, windows, dataset.window, contigs), manifest.content_hash),
    ]
    if source is not None:
        # Of several sources the one that is called so, else the one that is it.
        found = hash_file(source)
        called = [one.sha256 for one in manifest.sources if one.name == source.name]
        meant = called or [one.sha256 for one in manifest.sources]
        checks.append(Check(f"hash of {source.name}", found, found if found in meant else meant[0]))
    return checks


_OF = ("length", "n", "gc", "masked")


def _counts(*numbers: int) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _store(dataset: Dataset, progress: StageProgress) -> tuple[str, str]:
    """sha256 of the store, and its counts."""
    whole = sha256()
    n = gc = masked = done = 0
    total = dataset.manifest.tally.bases
    for start in range(0, total, _AT_ONCE):
        tokens = read_tokens(dataset.path / TOKENS, start, min(_AT_ONCE, total - start))
        whole.update(tokens.data)
        codes = tokens & np.uint8(CODE)
        n += int(np.count_nonzero(codes == N))
        gc += int(np.count_nonzero((codes == C) | (codes == G)))
        masked += int(np.count_nonzero(tokens >= MASKED))
        done += len(tokens)
        progress(Stage("bases", done, done / total))
    return whole.hexdigest(), _counts(total, n, gc, masked)


def _places(dataset: Dataset) -> int:
    """Where the last contig ends if each begins where the one before it ends; else the first that does not."""
    at = 0
    for contig in dataset.contigs:
        if contig.offset != at:
            return contig.offset
        at += contig.length
    return at


def _windows(dataset: Dataset) -> str:
    windows = dataset.windows
    number = {contig.name: place for place, contig in enumerate(dataset.contigs)}
    columns = [
        windows["contig"].astype(str).map(number).to_numpy(dtype=np.int64),
        windows["split"].astype(str).map({split: place for place, split in enumerate(SPLITS)}).to_numpy(dtype=np.int64),
        windows["start"].to_numpy(dtype=np.int64),
    ]
    return sha256(digest(*columns)).hexdigest()


def _outside(dataset: Dataset) -> int:
    """Windows that reach out of the span of their split."""
    wrong = 0
    for split in SPLITS:
        starts, spans = dataset.starts(split), dataset.spans(split)
        if not len(starts) or not len(spans):
            wrong += len(starts)
            continue
        place = np.searchsorted(spans[:, 0], starts, side="right") - 1
        inside = (place >= 0) & (starts + dataset.window <= spans[np.maximum(place, 0), 1])
        wrong += int(np.count_nonzero(~inside))
    return wrong
