"""The settings of the smallest run that the front door's tests train."""

from __future__ import annotations

SMALL = {
    "model.width": 32, "model.heads": 1, "model.layers": 1, "model.mlp_width": 32,
    "train.eval_every": 2, "train.eval_windows": 4,
}  # fmt: skip
