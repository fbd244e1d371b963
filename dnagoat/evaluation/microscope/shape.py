"""How far a learned prior reaches, over training: reach, divergence from uniform, peak, slope, bump, waves, curves."""

# H heads, S keys, R waves

from __future__ import annotations

import math
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dnagoat.attention.schemes.base import At, PositionScheme, Waves
from dnagoat.attention.schemes.momentum import Momentum
from dnagoat.attention.schemes.wrapper import innermost
from dnagoat.evaluation.measure import Result
from dnagoat.evaluation.measures.prior import curves
from dnagoat.evaluation.microscope.anatomy import causal, divergence_from_uniform, effective_reach
from dnagoat.evaluation.microscope.dominance import rank_waves
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import load_model, model_sha256, present, step_of
from dnagoat.training.kept.run import STATE, Run

MASSES = (0.5, 0.95)


def kept_checkpoints(run: Run) -> list[Path]:
    """The whole checkpoints of a run, oldest first."""
    return [folder for folder in present(run.path) if (folder / STATE).exists()]


def kept(run: Run) -> list[dict[str, Any]]:
    """Which checkpoints `shapes` reads: the run may train on, and keep others."""
    return [{"step": step_of(folder), "sha256": model_sha256(folder)} for folder in kept_checkpoints(run)]


def shapes(run: Run, device: str = "cpu") -> list[Result]:
    """The prior's shape at the start of training and in every checkpoint kept: `[{step, layers, waves, curves}]`.

    `curves` is None but in the checkpoints of `choose_steps`: every distance of every head is much.
    """
    start = DnaLM(run.config.model, run.config.train.seed).eval().to(device)
    folders = kept_checkpoints(run)
    models = chain([start], (load_model(folder, run.config.model, device) for folder in folders))
    steps = [0, *map(step_of, folders)]
    return [
        {"step": step, **shape(model, start), "curves": _curves(model) if step in choose_steps(steps) else None}
        for step, model in zip(steps, models, strict=True)
    ]


def choose_steps(steps: list[int]) -> list[int]:
    """The start, then the first, the middle and the last of the checkpoints."""
    return sorted({steps[0], steps[min(1, len(steps) - 1)], steps[len(steps) // 2], steps[-1]})


def _curves(model: DnaLM) -> list[Result]:
    """Log-prior and sink of each head; the rest of `prior.curves` is told by numbers."""
    return [
        {
            **layer,
            "heads": [{name: head[name] for name in ("head", "slope", "log_prior", "sink")} for head in layer["heads"]],
        }
        for layer in curves(model)
    ]


@torch.no_grad()
def shape(model: DnaLM, start: DnaLM) -> Result:
    """Every head's prior for the last query of a window of the training length."""
    layers = [_layer(attention.scheme, model) for attention in model.attentions()]
    return {"layers": layers, "waves": _waves(model, start)}


def _layer(scheme: PositionScheme, model: DnaLM) -> Result:
    inner = innermost(scheme)
    device = next(model.parameters()).device
    keys = torch.arange(model.config.context, device=device)
    prior, allowed = inner.kernel(keys[-1:], keys), causal(1, len(keys), device)
    reach = {mass: effective_reach(prior, allowed, mass).tolist() for mass in MASSES}
    divergence = divergence_from_uniform(prior, allowed)[:, 0].tolist()
    sink, slopes, waves = inner.sink(At(keys, keys)), inner.recency(), inner.waves()
    periods = [] if waves is None else _periods(waves)
    amplitudes = [[]] * inner.heads if waves is None else _amplitudes(waves).tolist()
    peaks = _peaks(inner, keys)
    heads = [
        {
            "head": head,
            "reach_half": reach[0.5][head],
            "reach_95": reach[0.95][head],
            "divergence": divergence[head],
            "peak": peaks[head],
            "slope": None if slopes is None else float(slopes[head]),
            "sink_lead": None if sink is None else float(sink[head, 0] - sink[head, 1:].median()),
            "waves": amplitudes[head],
            "strongest": periods[int(np.argmax(amplitudes[head]))] if any(amplitudes[head]) else None,
        }
        for head in range(inner.heads)
    ]
    strength = float(scheme.strength) if isinstance(scheme, Momentum) else None
    return {"layer": inner.layer, "momentum": strength, "periods": periods, "heads": heads}


def _peaks(scheme: PositionScheme, keys: Tensor) -> list[int | None]:
    """The distance in bases at which each head's waves give most; None where they are flat, or there are none.

    Waves whose periods have a common multiple peak again after it, those of 2, 3, 4, 6, 10.5 and 24 bases every 168:
    of equal peaks the nearest counts. In float64, where they differ by rounding alone.
    """
    waves = deepcopy(scheme).double().spectral(keys[-1:], keys)
    if waves is None:
        return [None] * scheme.heads
    nearest_first = waves[:, 0].flip(-1)
    top, bottom = nearest_first.amax(-1, keepdim=True), nearest_first.amin(-1, keepdim=True)
    first = (nearest_first >= top - 1e-9 * (top - bottom)).int().argmax(-1)
    return [None if flat else distance for flat, distance in zip((top == bottom)[:, 0], first.tolist(), strict=True)]


def _amplitudes(part: Waves) -> Tensor:
    """(H, R) nats: sqrt(a^2 + b^2) of each wave."""
    return torch.hypot(part.even, part.odd).double()


def _periods(part: Waves) -> list[float]:
    """R periods in bases: this layer's own, where they are learned."""
    return (2 * math.pi / part.frequencies).tolist()


def _spectral(model: DnaLM) -> list[Waves]:
    found = (innermost(attention.scheme).waves() for attention in model.attentions())
    return [waves for waves in found if waves is not None]


def _waves(model: DnaLM, start: DnaLM) -> list[Result]:
    """For each wave, over all heads: amplitude, how far (a, b) moved from the start, and whether that stands out.

    `period` is where the wave started, the same in every layer; `periods` is where each layer has it now.
    """
    parts, first = _spectral(model), _spectral(start)
    if not parts:
        return []
    amplitude = torch.cat([_amplitudes(part) for part in parts]).cpu().numpy()
    moved = torch.cat(
        [torch.hypot(part.even - old.even, part.odd - old.odd).double() for part, old in zip(parts, first, strict=True)]
    )
    ranks, chances = rank_waves(moved.cpu().numpy())
    now = [_periods(part) for part in parts]
    return [
        {
            "period": period,
            "periods": [own[wave] for own in now],
            "amplitude": float(amplitude[:, wave].mean()),
            "moved": float(moved[:, wave].mean()),
            "mean_rank": ranks[wave],
            "p": chances[wave] if moved.any() else None,
        }
        for wave, period in enumerate(_periods(first[0]))
    ]
