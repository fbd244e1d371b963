"""How two models differ on exactly the same bases: the paired difference of NLL with its block-bootstrap interval."""

# n pieces

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.scoring.verdict_rule import judge
from dnagoat.reporting.sources import Result, Results, RunResults

Sums = NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """A model minus the reference, in nats per base: negative where the model is better."""

    value: float
    bounds: tuple[float, float]
    blocks: int


@dataclass(frozen=True)
class PieceSums:
    """Nats and scored bases of each piece that a run was scored on, each (n,), the block of the genome that each lies
    in, (n,), and which pieces those are, (3, n)."""

    sums: Sums
    counts: Sums
    blocks: NDArray[np.int64]
    pieces: NDArray[np.int64]

    def same_bases(self, other: PieceSums) -> bool:
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
    run: RunResults, own: PieceSums | None, reference: RunResults, base: PieceSums | None, split: str
) -> Paired | None:
    """The paired difference of two runs, in the run's own blocks and resamples; None where they were not scored on the
    same bases of the same dataset."""
    nll, other = run.nll(split), reference.nll(split)
    if own is None or base is None or nll is None or other is None or nll["dataset_hash"] != other["dataset_hash"]:
        return None
    if not own.same_bases(base):
        return None
    judged = judge(
        own.sums[None], base.sums[None], own.counts, own.blocks, resamples=nll["resamples"], draw=nll["seed"]
    )
    over = judged.over_blocks
    return None if over is None else Paired(judged.value, (over.low, over.high), judged.blocks)


def scored(run: RunResults, split: str) -> PieceSums | None:
    """What lies in bases-SPLIT-*.npz for the result of this split; None where none of them belongs to it."""
    nll = run.nll(split)
    files = [file for folder in run.run.evaluations if nll for file in folder.glob(f"bases-{split}-*.npz")]
    return next((found for file in files if (found := _read(file, nll or {})) is not None), None)


def _read(file: Path, nll: Result) -> PieceSums | None:
    """The scores of one file, piece by piece; None where they are another result's, of other bases or damaged."""
    key = {
        "checkpoint": nll["checkpoint"]["sha256"],
        "dataset": nll["dataset_hash"],
        "pieces": nll.get("pieces"),  # results of earlier versions do not say
        "tool_version": nll["tool_version"],
    }
    from dnagoat.evaluation.scoring.scored import read_kept  # torch comes with it

    kept = read_kept(file)
    if kept is None or kept.key != key or int((counts := kept.scores.counts()).sum()) != nll["count"]:
        return None
    pieces = kept.scores.pieces
    rows = np.stack([pieces.starts, pieces.widths, pieces.skips])
    return PieceSums(kept.scores.sums(), counts, kept.blocks(nll["block_bases"]), rows)
