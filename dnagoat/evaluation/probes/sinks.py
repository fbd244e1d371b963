"""Where does attention go when content is weak? The first symbol's margin, split in content and prior, in trained runs.

The claim (arXiv 2601.15380): with a prior for a sink, content keys need not grow to make one. Beside the margins:
the length of the content key at position 0 relative to the others, and what another first symbol costs.
"""

# B batch, T queries, S keys, H heads

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.evaluation.measure import MeasureOptions, Result
from dnagoat.evaluation.measures.inspect import SETTLED
from dnagoat.evaluation.microscope.anatomy import margin
from dnagoat.evaluation.microscope.close_windows import random_windows, real_windows
from dnagoat.evaluation.microscope.observe import Seen, observing
from dnagoat.evaluation.scoring.intervals import LEVEL, block_bootstrap, few_blocks
from dnagoat.evaluation.scoring.pieces import blocks_at
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run
from dnagoat.training.step.loss import base_losses


def sinks(runs: Sequence[tuple[str, Run]], options: MeasureOptions, progress: Progress = silent) -> Result:
    """Every run, named by its arm, on real windows of its dataset and on as many random ones.

    `replaced` of a run is empty where it was trained without a start symbol: there is none to replace.
    """
    return {
        "probe": "sink",
        "unit": "nats",
        "level": LEVEL,
        "split": options.split,
        "seed": options.seed,
        "runs": [_of_run(arm, run, options, progress) for arm, run in runs],
    }


@flush_subnormals()
def _of_run(arm: str, run: Run, options: MeasureOptions, progress: Progress) -> dict[str, Any]:
    dataset = run.dataset(options.dataset)
    model = run.model(options.which, options.device)
    codes, starts = real_windows(dataset, options)
    chosen = {
        "real": (codes, blocks_at(dataset, starts, options.block)),
        "random": (random_windows(len(codes), dataset.window, options.seed), np.arange(len(codes))),
    }
    rows: list[dict[str, Any]] = []
    replaced: list[dict[str, Any]] = []
    for kind, (windows, blocks) in chosen.items():
        progress(f"{arm}, {kind} windows", len(rows), 2)
        rows += [{"windows": kind, **row} for row in first_key(model, windows)]
        if _starts(model):
            replaced.append({"windows": kind, **first_symbol_replaced(model, windows, blocks, options.seed)})
    return {
        "arm": arm,
        "scheme": run.config.model.position.name,
        "run": str(run.path),
        "dataset_hash": run.config.dataset_hash,
        "windows": len(codes),
        "window": dataset.window,
        "rows": rows,
        "replaced": replaced,
    }


@torch.inference_mode()
def first_key(model: DnaLM, codes: Codes) -> list[dict[str, Any]]:
    """For each layer and head, over queries from SETTLED on: mean weight of key 0, share of queries whose strongest key
    it is, mean margin and its content and prior parts in nats, and the length of its content key over the median of the
    others' lengths."""
    found: dict[int, list[Tensor]] = {}

    def look(seen: Seen) -> None:
        lead = margin(seen.content, seen.prior, 0, seen.allowed)
        length = seen.key_norms[..., :1] / seen.key_norms[..., 1:].median(-1, keepdim=True)[0]
        parts = (seen.weights[..., 0], (lead.total > 0).double(), lead.total, lead.content, lead.prior)
        means = [part[..., SETTLED:].mean(-1, keepdim=True) for part in parts]
        found.setdefault(seen.layer, []).append(torch.cat([*means, length], dim=-1))

    with observing(model, look):
        for window in torch.split(_inputs(model, codes), 1):
            model(window)
    names = ("weight", "strongest", "margin", "content", "prior", "key_length")
    return [
        {"layer": layer, "head": head, **dict(zip(names, values, strict=True))}
        for layer, parts in sorted(found.items())
        for head, values in enumerate(torch.cat(parts).mean(0).tolist())
    ]


@torch.inference_mode()
def first_symbol_replaced(model: DnaLM, codes: Codes, blocks: Any, seed: int) -> dict[str, Any]:
    """NLL of all bases but the first as trained and with a random base where the start symbol stands."""
    inputs, targets = _inputs(model, codes), torch.from_numpy(to_inputs_targets(codes)[1])
    other = inputs.clone()
    other[:, 0] = torch.from_numpy(np.random.default_rng(seed).integers(0, 4, len(codes)))
    kept, changed = (_sums(model, side, targets) for side in (inputs, other))
    counts = (targets[:, 1:] >= 0).sum(1).numpy()
    interval = block_bootstrap(changed - kept, counts, blocks, seed=seed)
    total, different = counts.sum(), len(np.unique(blocks[counts > 0]))
    return {
        "value": float(kept.sum() / total),
        "replaced": float(changed.sum() / total),
        "cost": float((changed - kept).sum() / total),
        "interval": None if interval is None else interval.as_list(),
        "count": int(total),
        "blocks": different,
        "warnings": few_blocks(different),
    }


def _starts(model: DnaLM) -> bool:
    """Whether it was trained with a start symbol; five classes were not, and are looked at without it."""
    return model.config.classes != 5


def _inputs(model: DnaLM, codes: Codes) -> Tensor:
    inputs, _ = to_inputs_targets(codes, score_n=not _starts(model))
    return torch.from_numpy(inputs).to(next(model.parameters()).device)


def _sums(model: DnaLM, inputs: Tensor, targets: Tensor) -> np.ndarray[Any, Any]:
    """Nats of each window over all bases but the first, (n,) float64."""
    losses = [
        base_losses(model(part), asked.to(part.device))[:, 1:].double().sum(1).cpu()
        for part, asked in zip(torch.split(inputs, 16), torch.split(targets, 16), strict=True)
    ]
    return torch.cat(losses).numpy()
