"""How two models differ on exactly the same bases: the paired difference of NLL with its block-bootstrap interval."""

# n pieces, M scored bases of all pieces end to end

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.scoring.intervals import block_bootstrap
from dnagoat.reporting.results import Result, Results, RunResults

Sums = NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """A model minus the reference, in nats per base: negative where the model is better."""

    value: float
    bounds: tuple[float, float]
    blocks: int


@dataclass(frozen=True)
class Scored:
    """Nats and scored bases of each piece that a run was scored on, each (n,), the block of the genome that each lies
    in, (n,), and which pieces those are, (3, n)."""

    sums: Sums
    counts: Sums
    blocks: NDArray[np.int64]
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
    """The paired difference of two runs, in the run's own blocks and resamples; None where they were not scored on the
    same bases of the same dataset."""
    nll, other = run.nll(split), reference.nll(split)
    if own is None or base is None or nll is None or other is None or nll["dataset_hash"] != other["dataset_hash"]:
        return None
    if not own.same_bases(base):
        return None
    bounds = block_bootstrap(own.sums - base.sums, own.counts, own.blocks, nll["resamples"], nll["seed"])
    value = float((own.sums - base.sums).sum() / own.counts.sum())
    return None if bounds is None else Paired(value, (bounds.low, bounds.high), len(np.unique(own.blocks)))


def scored(run: RunResults, split: str) -> Scored | None:
    """What lies in evaluation/bases-SPLIT-*.npz for the result of this split; None where none of them belongs to it."""
    nll = run.nll(split)
    files = (run.run.path / "evaluation").glob(f"bases-{split}-*.npz") if nll else ()
    return next((found for file in files if (found := _read(file, nll or {})) is not None), None)


def _read(file: Path, nll: Result) -> Scored | None:
    """The scores of one file, piece by piece; None where they are another result's or damaged."""
    key = {
        "checkpoint": nll["checkpoint"]["sha256"],
        "dataset": nll["dataset_hash"],
        "pieces": nll.get("pieces"),  # results of earlier versions do not say
        "tool_version": nll["tool_version"],
    }
    try:
        with np.load(file, allow_pickle=False) as kept:
            if json.loads(str(kept["key"])) != key:
                return None
            starts, widths, skips, origins, losses = (
                kept[name] for name in ("starts", "widths", "skips", "origins", "losses")
            )
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        return None
    offsets = np.concatenate([[0], np.cumsum(widths - skips)])
    known = ~np.isnan(losses)
    sums, counts = _by_piece(np.where(known, losses, 0.0), offsets), _by_piece(known, offsets)
    if int(counts.sum()) != nll["count"]:
        return None  # damaged: the result is of other bases
    # As evaluation counts blocks: from the start of each contig, so that none lies in two.
    blocks = origins + (starts + skips - origins) // nll["block_bases"]
    return Scored(sums, counts, blocks, np.stack([starts, widths, skips]))


def _by_piece(values: NDArray[Any], offsets: NDArray[np.int64]) -> Sums:
    totals = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return np.asarray(totals[offsets[1:]] - totals[offsets[:-1]])
