"""How many bases of training until a model is as good as this? The measure of what a head start is worth."""

# V validations of a run

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def bases_to_reach(metrics: Sequence[dict[str, Any]], nll: float) -> int | None:
    """Bases read when validation first came down to `nll` nats per base, between two validations on a straight line.

    `metrics` are the rows of metrics.jsonl; None where no validation got there.
    """
    before: tuple[int, float] | None = None
    for row in metrics:
        if row["val_nll"] is None:
            continue
        bases, value = int(row["bases"]), float(row["val_nll"])
        if value <= nll:
            if before is None or before[1] <= value:
                return bases
            share = (before[1] - nll) / (before[1] - value)
            return round(before[0] + share * (bases - before[0]))
        before = bases, value
    return None
