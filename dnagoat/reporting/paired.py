"""How two models differ on exactly the same bases: the paired difference of NLL with its block-bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass

from dnagoat.reporting.results import Result


@dataclass(frozen=True)
class Paired:
    """First minus second, in nats per base: negative where the first model is better."""

    value: float
    bounds: tuple[float, float]
    blocks: int


def difference(first: Result, second: Result) -> Paired | None:
    """From the per-block sums of two NLL results, or None where they do not hold the same blocks."""
    from dnagoat.evaluation.intervals import block_bootstrap

    blocks, others = first.get("per_block"), second.get("per_block")
    if not blocks or not others or blocks["counts"] != others["counts"]:
        return None
    counts = blocks["counts"]
    sums = [one - other for one, other in zip(blocks["sums"], others["sums"], strict=True)]
    bounds = block_bootstrap(sums, counts, range(len(counts)))
    return None if bounds is None else Paired(sum(sums) / sum(counts), (bounds.low, bounds.high), len(counts))
