"""How two models differ on exactly the same bases: the paired difference of NLL with its block-bootstrap interval."""

# n pieces, M scored bases of all pieces end to end

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.intervals import block_bootstrap
from dnagoat.reporting.results import Results, RunResults

Sums = NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """A model minus the reference, in nats per base: negative where the model is better."""

    value: float
    bounds: tuple[float, float]
    blocks: int


@dataclass(frozen=True)
class Scored:
    """Nats and scored bases of each piece that a run was scored on, each (n,), and which pieces those are, (3, n)."""

    sums: Sums
    counts: Sums
    pieces: NDArray[np.int64]

    def same_bases(self, other: Scored) -> bool:
        return np.array_equal(self.pieces, other.pieces) and np.array_equal(self.counts, other.counts)


def differences(results: Results, split: str = "test") -> dict[str, Paired]:
    """Each run against the first of the report, by the run's path; runs on other bases are left out."""
    if len(results.scored) < 2:
        return {}
    reference, *others = results.scored
    base = scored(reference, split)
    found = {}
    for run in others:
        paired = difference(run, scored(run, split), reference, base, split)
        if paired is not None:
            found[run.key] = paired
    return found


def difference(
    run: RunResults, own: Scored | None, reference: RunResults, base: Scored | None, split: str
) -> Paired | None:
    """The paired difference of two runs, or None where they were not scored on the same bases of the same dataset."""
    if own is None or base is None or run.config.dataset_hash != reference.config.dataset_hash:
        return None
    if not own.same_bases(base):
        return None
    bases = (run.nll(split) or {}).get("block_bases", 20_000)
    blocks = (own.pieces[0] + own.pieces[2]) // bases
    bounds = block_bootstrap(own.sums - base.sums, own.counts, blocks)
    value = float((own.sums - base.sums).sum() / own.counts.sum())
    return None if bounds is None else Paired(value, (bounds.low, bounds.high), len(np.unique(blocks)))


def scored(run: RunResults, split: str) -> Scored | None:
    """What evaluation/bases-SPLIT.npz says piece by piece; None where there is none that belongs to the result."""
    file = run.run.path / "evaluation" / f"bases-{split}.npz"
    nll = run.nll(split)
    if nll is None or not file.exists():
        return None
    try:
        with np.load(file, allow_pickle=False) as kept:
            starts, widths, skips, losses = (kept[name] for name in ("starts", "widths", "skips", "losses"))
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None
    offsets = np.concatenate([[0], np.cumsum(widths - skips)])
    known = ~np.isnan(losses)
    sums, counts = _by_piece(np.where(known, losses, 0.0), offsets), _by_piece(known, offsets)
    if int(counts.sum()) != nll["count"]:
        return None  # scored again since, on other pieces
    return Scored(sums, counts, np.stack([starts, widths, skips]))


def _by_piece(values: NDArray[Any], offsets: NDArray[np.int64]) -> Sums:
    totals = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return np.asarray(totals[offsets[1:]] - totals[offsets[:-1]])
