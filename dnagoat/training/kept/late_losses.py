"""What a run lost at its end: on the windows that it trained on, and on validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def late_losses(rows: Sequence[dict[str, Any]]) -> tuple[float | None, float | None]:
    """Training and validation loss at the end of a run, nats per base: the mean over the steps since the validation
    before the last one, and the last one; None where the run was never validated."""
    looked = [place for place, row in enumerate(rows) if row["val_nll"] is not None]
    if not looked:
        return None, None
    late = [row["loss"] for row in rows[(looked[-2] + 1 if len(looked) > 1 else 0) : looked[-1] + 1]]
    return sum(late) / len(late), rows[looked[-1]]["val_nll"]
