"""What prior a model has learned: each head's log-prior against distance, its sink u(j) and its recency slope.

The curves come from the very lanes that attention uses, so they cannot drift from the model.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.attention.schemes.wrapper import innermost
from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run

# H heads, T queries, S keys

EVERY = (
    512  # distances up to here are all kept, so that a period of 3 bases shows; beyond it they are spaced evenly in log
)
SPACED = 200


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """Curves of every layer and head, and where training started; `layers` is empty where the scheme has no prior."""
    layers = curves(run.model(options.which, options.device))
    for layer, before in zip(layers, curves(DnaLM(run.config.model, run.config.train.seed)), strict=True):
        for head, first in zip(layer["heads"], before["heads"], strict=True):
            head["initial"] = first["log_prior"]
    distances = spaced(run.config.model.context)
    return {
        "context": run.config.model.context,
        "position": run.config.model.position.name,
        "distances": distances,
        "positions": distances,
        "layers": layers,
    }


def curves(model: DnaLM) -> list[Result]:
    """Each layer's heads at the `spaced` distances and positions of a window; layers without a prior are left out."""
    schemes = [innermost(attention.scheme) for attention in model.attentions()]
    context, device = model.config.context, next(model.parameters()).device
    return [_layer(scheme, context, device) for scheme in schemes if scheme.prefers]


def spaced(length: int) -> list[int]:
    """Whole numbers from 0 to length - 1: each up to EVERY, then SPACED of them evenly in their logarithm."""
    near = np.arange(min(length, EVERY))
    far = np.geomspace(EVERY, max(length - 1, EVERY), SPACED).round().astype(np.int64)
    return [int(d) for d in np.unique(np.concatenate([near, far[far < length]]))]


@torch.no_grad()
def _layer(scheme: PositionScheme, context: int, device: torch.device) -> Result:
    """For the last query of a window: log-prior (H, distances) with 0 at distance 0, sink and slope left apart."""
    query = torch.tensor([context - 1], device=device)
    places = torch.tensor(spaced(context), device=device)
    curve = scheme.kernel(query, query - places)[:, 0]
    sink, there = scheme.sink(At(places, places)), scheme.sink(At(query, query - places))
    if there is not None:
        curve = curve - there.double()
    slopes, waves = scheme.recency(), scheme.spectral(query, query - places)
    return {
        "layer": scheme.layer,
        "heads": [
            {
                "head": head,
                "log_prior": _rounded(curve[head] - curve[head, 0]),
                "spectral": None if waves is None else _rounded(waves[head, 0]),
                "sink": None if sink is None else _rounded(sink[head]),
                "slope": None if slopes is None else float(slopes[head]),
            }
            for head in range(scheme.heads)
        ],
    }


def _rounded(values: Tensor) -> list[float]:
    return [float(f"{value:.5g}") for value in values.tolist()]


MEASURE = Measure(
    "prior",
    "Where does each head look before it has seen a base: the learned log-prior, sink and slope",
    unit="nats",
    compute=measure,
)
