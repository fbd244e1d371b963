"""What the rows of metrics.jsonl say of learning: what a run lost at its end, and how much it read to come so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def validations(rows: Sequence[dict[str, Any]]) -> list[tuple[int, float]]:
    """Bases read at each validation and the NLL that it found, nats per base."""
    return [(int(row["bases"]), float(row["val_nll"])) for row in rows if row.get("val_nll") is not None]


def late_losses(rows: Sequence[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Training and validation loss at the end of a run, nats per base: the mean over the steps since the validation
    before the last one, and the last one; None where the run was never validated."""
    looked = [place for place, row in enumerate(rows) if row["val_nll"] is not None]
    if not looked:
        return None, None
    late = [row["loss"] for row in rows[(looked[-2] + 1 if len(looked) > 1 else 0) : looked[-1] + 1]]
    return sum(late) / len(late), rows[looked[-1]]["val_nll"]


def bases_to_reach(metrics: Sequence[dict[str, Any]], nll: float) -> int | None:
    """Bases read when validation first came down to `nll` nats per base, between two validations on a straight line.

    What a head start is worth. `metrics` are the rows of metrics.jsonl; None where no validation got there.
    """
    before: tuple[int, float] | None = None
    for bases, value in validations(metrics):
        if value <= nll:
            if before is None or before[1] <= value:
                return bases
            share = (before[1] - nll) / (before[1] - value)
            return round(before[0] + share * (bases - before[0]))
        before = bases, value
    return None
