"""Made-up results of `inspect`, in the very form that the microscope writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dnagoat.evaluation.measure import format_of

DISTANCES = [*range(512), *range(512, 1024, 8)]


def curve(step: int, head: int) -> list[float]:
    """A peak at 3 and, as high, its copy at 171 bases, over a slope that training takes away."""
    d = np.array(DISTANCES)
    return (4.0 * ((d == 3) | (d == 171)) - 0.05 * (d + head) / (1 + step)).tolist()


def checkpoint(step: int, layers: int, heads: int, *, curves: bool) -> dict[str, Any]:
    return {
        "step": step,
        "layers": [
            {
                "layer": layer,
                "momentum": None if layer == 0 else 0.1 * (1 + step),
                "periods": [3.0, 10.5],
                "heads": [
                    {
                        "head": head,
                        "reach_half": 12 + 8 * layer + head,
                        "reach_95": 80,
                        "divergence": 1.0,
                        "peak": None if head else 3 + step,
                        "slope": 0.05 / (1 + step),
                        "sink_lead": 0.1,
                        "waves": [1.0, 2.0],
                        "strongest": 10.5,
                    }
                    for head in range(heads)
                ],
            }
            for layer in range(layers)
        ],
        "waves": [
            {"period": 3.0, "periods": [3.0, 3.0], "amplitude": 1.0, "moved": 0.1 * step, "mean_rank": 1.0, "p": 0.9},
            {"period": 10.5, "periods": [10.0, 12.0], "amplitude": 2.0, "moved": step, "mean_rank": 2.0, "p": 0.01},
        ],
        "curves": [
            {
                "layer": layer,
                "heads": [
                    {
                        "head": head,
                        "slope": 0.05,
                        "log_prior": curve(step, head),
                        "sink": [step / (1 + d) for d in DISTANCES],
                    }
                    for head in range(heads)
                ],
            }
            for layer in range(layers)
        ]
        if curves
        else None,
    }


def result(position: str = "goat", layers: int = 2, heads: int = 2, normaliser: str = "softmax") -> dict[str, Any]:
    """A made-up result with five checkpoints beside the start."""
    tightness = 0.8 if normaliser == "softmax" else None
    row = {"omega": 2.0, "tightness": tightness, "moved": 0.1, "first_weight": 0.2, "first_prior": 0.1}
    return {
        "format": format_of("inspect"),
        "position": position,
        "normaliser": normaliser,
        "context": 1024,
        "distances": DISTANCES,
        "kept": [1, 2, 3, 4, 5],
        "checkpoints": [checkpoint(step, layers, heads, curves=step in (0, 1, 3, 5)) for step in range(6)],
        "rows": [{"layer": layer, "head": head, **row} for layer in range(layers) for head in range(heads)],
        "ablations": [
            {"without": None, "value": 1.3, "count": 1000},
            {"without": "sink", "value": 1.31, "cost": 0.01, "interval": [0.005, 0.015]},
        ],
        "windows": 16,
        "window": 1024,
        "blocks": 12,
        "block_bases": 20_000,
        "warnings": ["only 12 blocks of 20,000 bases: the interval is too narrow below 30"],
    }
