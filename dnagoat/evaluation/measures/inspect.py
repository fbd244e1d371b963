"""What a trained model does with its prior: its shape over training, content beside it, ablations."""

# B batch, T queries, S keys, H heads

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.evaluation.measures.prior import spaced
from dnagoat.evaluation.microscope.ablation import parts_of, without
from dnagoat.evaluation.microscope.anatomy import content_range, divergence, normalised, tightness
from dnagoat.evaluation.microscope.close_windows import real_windows
from dnagoat.evaluation.microscope.observe import Seen, observing
from dnagoat.evaluation.microscope.remembered import trust_on
from dnagoat.evaluation.microscope.shape import kept, shapes
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.intervals import LEVEL, block_bootstraps
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.evaluation.scoring.pieces import blocks_at
from dnagoat.evaluation.scoring.scored import warnings
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run

SETTLED = 16  # queries before this one have too few keys to say anything about a range


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """The microscope's result: `checkpoints` (shape of the prior), `rows` (content against prior), `ablations`."""
    dataset = options.dataset_of(run)
    codes, starts = real_windows(dataset, options)
    model = run.model(options.which, options.device)
    blocks = blocks_at(dataset, starts, options.block)
    different = len(np.unique(blocks))
    progress("reading the priors of checkpoints", 0, 0)
    checkpoints = shapes(run, options.device)
    return {
        "position": run.config.model.position.name,
        "normaliser": run.config.model.normaliser,
        "context": run.config.model.context,
        "kept": [checkpoint["step"] for checkpoint in checkpoints[1:]],
        "distances": spaced(run.config.model.context),  # and positions, of the checkpoints' curves
        "checkpoints": checkpoints,
        "rows": content_against_prior(model, codes, progress),
        "trust": trust_on(model, codes),
        "ablations": ablations(model, codes, blocks, options, progress),
        "windows": len(codes),
        "window": dataset.window,
        "blocks": different,
        "block_bases": options.block,
        "level": LEVEL,
        "warnings": warnings(run, options, different),
    }


@torch.inference_mode()
def content_against_prior(model: DnaLM, codes: Codes, progress: Progress = silent) -> list[dict[str, Any]]:
    """For each layer and head, over the queries of all windows: median content range omega in nats, median tightness
    of the theorem's bounds, mean KL(attention || prior), mean weight of the first key under attention and prior.

    Tightness is None under a sparse normaliser: the theorem is of softmax, and weights of 0 are below every bound."""
    found: dict[int, list[Tensor]] = {}

    def look(seen: Seen) -> None:
        omega = content_range(seen.content, seen.allowed)
        used = tightness(seen.weights, seen.prior, seen.content, seen.allowed)
        prior = normalised(seen.prior, seen.allowed).expand_as(seen.weights)
        moved = divergence(seen.weights, seen.prior, seen.allowed)
        whole = torch.stack([omega, used, moved, seen.weights[..., 0], prior[..., 0]])
        found.setdefault(seen.layer, []).append(whole[..., SETTLED:])

    device = next(model.parameters()).device
    # Five classes were trained without a start symbol, and are looked at without it.
    inputs = torch.from_numpy(to_inputs_targets(codes, score_n=model.config.classes == 5)[0]).to(device)
    with observing(model, look):
        for done, window in enumerate(torch.split(inputs, 1), 1):
            model(window)
            progress("looking at windows", done, len(inputs))
    rows = [row for layer, parts in sorted(found.items()) for row in _summaries(layer, torch.cat(parts, dim=1))]
    bounded = model.config.normaliser == "softmax"
    return rows if bounded else [{**row, "tightness": None} for row in rows]


def _summaries(layer: int, values: Tensor) -> list[dict[str, Any]]:
    """`values` (5, n, H, T) of one layer."""
    by_head = values.transpose(1, 2).flatten(2)
    names = ("omega", "tightness", "moved", "first_weight", "first_prior")
    centres = torch.stack([by_head[0].median(-1)[0], by_head[1].median(-1)[0], *by_head[2:].mean(-1)])
    return [
        {"layer": layer, "head": head, **dict(zip(names, centres[:, head].tolist(), strict=True))}
        for head in range(by_head.shape[1])
    ]


def ablations(
    model: DnaLM,
    codes: Codes,
    blocks: np.ndarray[tuple[int], np.dtype[np.int64]],
    options: MeasureOptions,
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """NLL on the windows as trained and with each part switched off; `cost` is what the part is worth.

    The interval is a bootstrap over `blocks` (n,) of the genome; None where there is one block alone.
    """
    parts = parts_of(model)
    whole, counts = _nats(model, codes, options)
    rows: list[dict[str, Any]] = [
        {"without": None, "value": float(whole.sum() / counts.sum()), "count": int(counts.sum())}
    ]
    for done, part in enumerate(parts, 1):
        with without(model, part):
            sums, _ = _nats(model, codes, options)
        cost = block_bootstraps((sums - whole)[:, None], counts, blocks, options.resamples, options.seed)[0]
        rows.append(
            {
                "without": part,
                "value": float(sums.sum() / counts.sum()),
                "cost": float((sums - whole).sum() / counts.sum()),
                "interval": None if cost is None else cost.as_list(),
            }
        )
        progress("switching parts off", done, len(parts))
    return rows


def _nats(model: DnaLM, codes: Codes, options: MeasureOptions) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Nats and scored bases of each window, (n,) each."""
    window = codes.shape[1]
    step = max(1, bases_at_once(model, options.batch_bases(window), window) // window)
    nats = np.concatenate([window_scores(model, codes[i : i + step])[0] for i in range(0, len(codes), step)])
    scored = ~np.isnan(nats)
    return np.asarray(np.where(scored, nats, 0.0).sum(1, dtype=np.float64)), scored.sum(1)


MEASURE = Measure(
    "inspect",
    "What does attention do with its prior: reach, content against prior, and what each part is worth?",
    unit="nats",
    compute=measure,
    settings=("split", "seed", "windows", "block", "resamples"),
    made_from=kept,
)
