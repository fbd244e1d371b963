"""What prior a model has learned: each head's log-prior against distance, its sink u(j) and its recency slope.

The curves come from the very lanes that attention uses, so they cannot drift from the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from dnagoat.attention.goat import Goat, Part
from dnagoat.attention.positions import At, PositionScheme
from dnagoat.evaluation.measures import MeasureOptions, Progress, Result, silent
from dnagoat.model import DnaLM
from dnagoat.runs import Run

# H heads, T queries, S keys

EVERY = (
    512  # distances up to here are all kept, so that a period of 3 bases shows; beyond it they are spaced evenly in log
)
SPACED = 200


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """Curves of every layer and head, and where training started; `layers` is empty where the scheme has no prior."""
    model = run.model(options.which, options.device)
    context = run.config.model.context
    distances = spaced(context)
    layers = [_layer(attention.scheme, distances, context) for attention in model.attentions()]
    started = DnaLM(run.config.model, run.config.train.seed)
    for layer, attention in zip(layers, started.attentions(), strict=True):
        before = _layer(attention.scheme, distances, context)
        for head, first in zip(*(part["heads"] if part else [] for part in (layer, before)), strict=True):
            head["initial"] = first["log_prior"]
    return {
        "context": context,
        "position": run.config.model.position.name,
        "distances": distances,
        "positions": distances,
        "layers": [layer for layer in layers if layer is not None],
    }


def spaced(length: int) -> list[int]:
    """Whole numbers from 0 to length - 1: each up to EVERY, then SPACED of them evenly in their logarithm."""
    near = np.arange(min(length, EVERY))
    far = np.geomspace(EVERY, max(length - 1, EVERY), SPACED).round().astype(np.int64)
    return [int(d) for d in np.unique(np.concatenate([near, far[far < length]]))]


@torch.no_grad()
def _layer(scheme: PositionScheme, distances: list[int], context: int) -> Result | None:
    """For the last query of a window: log-prior (H, distances) with 0 at distance 0, sink and slope left apart."""
    inner = getattr(scheme, "inner", scheme)
    if inner.lanes == 0:
        return None
    device = next(iter(inner.state_dict(keep_vars=True).values()), torch.empty(0)).device
    query = torch.tensor([context - 1], device=device)
    places = torch.tensor(distances, device=device)
    whole = inner.log_prior(query, query - places)[:, 0]
    parts: dict[str, Any] = dict(inner.parts.items()) if isinstance(inner, Goat) else {}
    sink = parts["sink"].value(At(places, places)).double() if "sink" in parts else None
    curve = whole if sink is None else whole - parts["sink"].value(At(query, query - places)).double()
    slopes = parts["recency"].slopes if "recency" in parts else getattr(inner, "slopes", None)
    spectral = _product(parts["spectral"], query, query - places, inner.root) if "spectral" in parts else None
    return {
        "layer": inner.layer,
        "heads": [
            {
                "head": head,
                "log_prior": _rounded(curve[head] - curve[head, 0]),
                "spectral": None if spectral is None else _rounded(spectral[head]),
                "sink": None if sink is None else _rounded(sink[head]),
                "slope": None if slopes is None else float(slopes[head]),
            }
            for head in range(inner.heads)
        ],
    }


def _product(part: Part, query: Tensor, keys: Tensor, root: float) -> Tensor:
    """The share of the log-prior that one part gives, (H, S) for a single query."""
    at = At(query, keys)
    return (part.query(at, root).double() @ part.key(at, root).double().transpose(-1, -2))[:, 0] / root


def _rounded(values: Tensor) -> list[float]:
    return [float(f"{value:.5g}") for value in values.tolist()]
