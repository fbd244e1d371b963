"""How far a learned prior reaches, in numbers: reach, divergence from uniform, slope, bump, waves, over training."""

# H heads, S keys, R waves

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from dnagoat.attention.goat import Goat
from dnagoat.attention.momentum import Momentum
from dnagoat.attention.positions import At, PositionScheme
from dnagoat.attention.wrapper import innermost
from dnagoat.evaluation.anatomy import causal, divergence_from_uniform, effective_reach
from dnagoat.evaluation.dominance import standing_out
from dnagoat.evaluation.measures import Result
from dnagoat.model import DnaLM
from dnagoat.runs import Run
from dnagoat.training.checkpoint import load_model, present, step_of

MASSES = (0.5, 0.95)


def kept_checkpoints(run: Run) -> list[Path]:
    """The whole checkpoints of a run, oldest first."""
    return [folder for folder in present(run.path) if (folder / "state.json").exists()]


def shapes(run: Run, device: str = "cpu") -> list[Result]:
    """The prior's shape at the start of training and in every checkpoint kept: `[{step, layers, waves}]`."""
    models = [(0, DnaLM(run.config.model, run.config.train.seed).eval())]
    models += [(step_of(folder), load_model(folder, run.config.model)) for folder in kept_checkpoints(run)]
    start = models[0][1]
    return [{"step": step, **shape(model.to(device), start.to(device))} for step, model in models]


@torch.inference_mode()
def shape(model: DnaLM, start: DnaLM) -> Result:
    """Every head's prior for the last query of a window of the training length."""
    layers = [_layer(attention.scheme, model.config.context) for attention in model.attentions()]
    return {"layers": layers, "waves": _waves(model, start)}


def _layer(scheme: PositionScheme, context: int) -> Result:
    inner = innermost(scheme)
    device = next(iter(inner.state_dict(keep_vars=True).values()), torch.empty(0)).device
    keys = torch.arange(context, device=device)
    prior, allowed = inner.kernel(keys[-1:], keys), causal(1, context, device)
    reach = {mass: effective_reach(prior, allowed, mass).tolist() for mass in MASSES}
    divergence = divergence_from_uniform(prior, allowed)[:, 0].tolist()
    parts: dict[str, Any] = dict(inner.parts.items()) if isinstance(inner, Goat) else {}
    sink = parts["sink"].value(At(keys, keys)).double() if "sink" in parts else None
    slopes = parts["recency"].slopes if "recency" in parts else getattr(inner, "slopes", None)
    heads = [
        {
            "head": head,
            "reach_half": reach[0.5][head],
            "reach_95": reach[0.95][head],
            "divergence": divergence[head],
            "slope": None if slopes is None else float(slopes[head]),
            "sink_lead": None if sink is None else float(sink[head, 0] - sink[head, 1:].median()),
            "waves": [] if "spectral" not in parts else _amplitudes(parts["spectral"])[head].tolist(),
        }
        for head in range(inner.heads)
    ]
    strength = float(scheme.strength) if isinstance(scheme, Momentum) else None
    return {"layer": inner.layer, "momentum": strength, "heads": heads}


def _amplitudes(spectral: Any) -> torch.Tensor:
    """(H, R) nats: sqrt(a^2 + b^2) of each wave."""
    return torch.hypot(spectral.even, spectral.odd).double()


def _spectral(model: DnaLM) -> list[Any]:
    inner = [getattr(attention.scheme, "inner", attention.scheme) for attention in model.attentions()]
    return [scheme.parts["spectral"] for scheme in inner if isinstance(scheme, Goat) and "spectral" in scheme.parts]


def _waves(model: DnaLM, start: DnaLM) -> list[Result]:
    """For each wave, over all heads: amplitude, how far (a, b) moved from the start, and whether that stands out."""
    parts, first = _spectral(model), _spectral(start)
    if not parts:
        return []
    amplitude = torch.cat([_amplitudes(part) for part in parts]).cpu().numpy()
    moved = torch.cat(
        [torch.hypot(part.even - old.even, part.odd - old.odd).double() for part, old in zip(parts, first, strict=True)]
    )
    ranks, chances = standing_out(moved.cpu().numpy())
    periods = 2 * np.pi / torch.stack([part.frequencies for part in parts]).mean(0).cpu().numpy()
    return [
        {
            "period": float(periods[wave]),
            "amplitude": float(amplitude[:, wave].mean()),
            "moved": float(moved[:, wave].mean()),
            "mean_rank": ranks[wave],
            "p": chances[wave] if moved.any() else None,
        }
        for wave in range(len(periods))
    ]
