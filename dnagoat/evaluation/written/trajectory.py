"""Does GC% along generated DNA follow the true continuation? Pearson r three ways, intervals by resampling prompts.

Neighbouring windows overlap, so the interval that treats them as independent is too narrow; it is given for the single
prompt alone, where nothing better exists. Constant input has no correlation: None, never 0.
"""

# N prompts, W sliding windows of a continuation, R resamples

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from dnagoat.evaluation.scoring.intervals import LEVEL, RESAMPLES, Interval
from dnagoat.frozen import Frozen

Floats = npt.NDArray[np.float64]

FLAT = 1e-9  # a GC fraction that varies less than this does not vary: one base in the largest sample is far more


class TrajectoryOptions(Frozen):
    """How the trajectory is measured; lengths in bases."""

    prompts: int = Field(128, ge=2, description="random windows of the split without N")
    prompt_length: int = Field(512, ge=1)
    length: int = Field(512, ge=2, description="generated bases a continuation")
    samples: int = Field(8, ge=1, description="continuations a prompt")
    gc_window: int = Field(64, ge=1)
    gc_stride: int = Field(32, ge=1)
    temperature: float = Field(1.0, ge=0)
    memory_strength: float | None = Field(None, ge=0, le=1, description="None = as trained")

    @model_validator(mode="after")
    def _windows_fit(self) -> TrajectoryOptions:
        if self.length < self.gc_window + self.gc_stride:
            raise ValueError(
                f"{self.length} generated bases hold fewer than two GC windows of {self.gc_window} bases, "
                f"{self.gc_stride} apart"
            )
        return self


@dataclass(frozen=True)
class Correlation:
    """Pearson r (None where an input is constant) and its interval (None where it has none)."""

    r: float | None
    interval: Interval | None

    def as_dict(self) -> dict[str, Any]:
        return {"r": self.r, "interval": self.interval.as_list() if self.interval else None}


def correlations(predicted: Floats, true: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Any]:
    """Pearson r of predicted and true GC (N, W): pooled, of the mean trajectory, and prompt by prompt.

    Intervals (95 %) resample prompts, each with all its windows. Returns {"pooled": {"r", "interval"},
    "averaged": the same, "per_prompt": {"r" (mean), "interval", "quartiles", "values", "intervals" (Fisher's), "count",
    "not_applicable"}}.
    """
    rng = np.random.default_rng(seed)
    weights: Floats = rng.multinomial(len(true), np.full(len(true), 1 / len(true)), size=resamples).astype(np.float64)
    return {
        "pooled": _pooled(predicted, true, weights).as_dict(),
        "averaged": _averaged(predicted, true, weights).as_dict(),
        "per_prompt": _per_prompt(predicted, true, weights),
    }


def pearson(x: Floats, y: Floats) -> Floats:
    """r along the last axis, NaN where x or y is constant."""
    x = x - x.mean(axis=-1, keepdims=True)
    y = y - y.mean(axis=-1, keepdims=True)
    return _ratio((x * y).mean(axis=-1), (x * x).mean(axis=-1), (y * y).mean(axis=-1))


def _ratio(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    varies = (xx > FLAT**2) & (yy > FLAT**2)
    r: Floats = np.divide(xy, np.sqrt(np.where(varies, xx * yy, 1.0)), out=np.full(np.shape(xy), np.nan), where=varies)
    return r


def _pooled(predicted: Floats, true: Floats, weights: Floats) -> Correlation:
    # Centred first: sums of squares of centred numbers do not cancel.
    x, y = predicted - predicted.mean(), true - true.mean()
    moments = np.stack([each.mean(axis=1) for each in (x, y, x * x, y * y, x * y)], axis=1)  # (N, 5)
    resampled = weights @ moments / len(true)
    mean_x, mean_y, xx, yy, xy = resampled.T
    return _with_interval(pearson(x.ravel(), y.ravel()), _ratio(xy - mean_x * mean_y, xx - mean_x**2, yy - mean_y**2))


def _averaged(predicted: Floats, true: Floats, weights: Floats) -> Correlation:
    resampled = pearson(weights @ predicted / len(true), weights @ true / len(true))
    return _with_interval(pearson(predicted.mean(axis=0), true.mean(axis=0)), resampled)


def _per_prompt(predicted: Floats, true: Floats, weights: Floats) -> dict[str, Any]:
    each = pearson(predicted, true)
    known = ~np.isnan(each)
    values = each[known]
    counts = weights[:, known].sum(axis=1)
    means = np.divide(weights[:, known] @ values, counts, out=np.full(len(weights), np.nan), where=counts > 0)
    mean = _with_interval(np.array(values.mean() if len(values) else np.nan), means)
    return mean.as_dict() | {
        "quartiles": [float(q) for q in np.quantile(values, (0.25, 0.5, 0.75))] if len(values) else None,
        "values": [float(r) if ok else None for r, ok in zip(each, known, strict=True)],
        "intervals": [_fisher(float(r), true.shape[1]) if ok else None for r, ok in zip(each, known, strict=True)],
        "count": int(known.sum()),
        "not_applicable": int((~known).sum()),
    }


def _with_interval(r: Floats, resampled: Floats) -> Correlation:
    if np.isnan(r):
        return Correlation(None, None)
    edges = np.nanquantile(resampled, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Correlation(float(r), Interval(float(edges[0]), float(edges[1])))


def _fisher(r: float, windows: int) -> list[float] | None:
    """The interval of one r as if its windows were independent, which overlapping ones are not (scipy's pearsonr)."""
    if windows < 4:
        return None
    from scipy.stats import norm

    half = float(norm.ppf((1 + LEVEL) / 2)) / np.sqrt(windows - 3)
    centre = np.arctanh(np.clip(r, -1 + 1e-15, 1 - 1e-15))
    return [float(np.tanh(centre - half)), float(np.tanh(centre + half))]
