"""What the GOAT authors would have reported of a run: their protocol, in a table of its own.

N is a fifth class and scored, the first base of a window is not, 50 batches of the validation split that also chose the
checkpoint are read, and the best of the evaluations counts (arXiv 2601.15380). Its numbers stand beside nobody else's.
The evaluations are training's own, over as many windows as it was told: 50 batches where the preset is `paper`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from dnagoat.attention.schemes.registry import SCHEMES, scheme_for
from dnagoat.attention.schemes.wrapper import innermost
from dnagoat.config import RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.pieces import sliding, stretches
from dnagoat.genome.batches import gather
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run
from dnagoat.training.presets import preset
from dnagoat.training.step.loss import window_losses
from dnagoat.wording import counted

BATCHES = 50
PUBLISHED = {name: scheme.published.nll for name, scheme in SCHEMES.items() if scheme.published}


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """Mean nats of a symbol over 50 batches, and the lowest validation value seen while training."""
    if run.config.model.classes != 5:
        raise OptionError(
            f"{run.path} was trained without `dnagoat train --score-n`: it has no class for N, which the authors' "
            "protocol scores"
        )
    dataset, batch = options.dataset_of(run), run.config.train.batch_size
    every = sliding(stretches(dataset, "val"), dataset.window, dataset.window)
    pieces = every.spread(BATCHES * batch)
    validated = min(run.config.train.eval_windows, len(every))
    model = run.model(options.which, options.device)
    means = []
    for chosen in pieces.batches(batch * dataset.window):
        codes = gather(dataset.tokens, pieces.starts[chosen], dataset.window)
        means.append(float(window_losses(model, codes).double().mean()))
        progress("authors' protocol", len(means), BATCHES)
    return {
        "split": "val",
        "value": float(np.mean(means)),
        "interval": None,
        "best_of_evaluations": best_of_evaluations(run),
        "evaluation_windows": validated,
        "batches": len(means),
        "batch_size": batch,
        "count": int(len(pieces) * (dataset.window - 1)),
        "published": PUBLISHED,
        "warnings": [*_warnings(validated, len(pieces), batch), *other_start(run), *other_content(run.config)],
    }


def best_of_evaluations(run: Run) -> float | None:
    """The lowest NLL of the validations in training, nats a symbol."""
    return min((row["val_nll"] for row in run.metrics() if row.get("val_nll") is not None), default=None)


def _warnings(validated: int, windows: int, batch: int) -> list[str]:
    batches = -(-windows // batch)
    said = [
        "the split that chose the checkpoint is the one reported, N is a target and no interval is given: "
        "compare it with the authors' table alone"
    ]
    if batches < BATCHES:
        said.append(
            f"the validation split has windows for {counted(batches, 'batch')}, fewer than the authors' {BATCHES}"
        )
    if validated != windows:
        said.append(
            f"the evaluations while training read {counted(validated, 'window')}, not the {windows:,} of "
            f"{counted(batches, 'batch')}: their best is not the authors' figure; it takes "
            f"`dnagoat train --eval-windows {BATCHES * batch}`"
        )
    return said


def other_start(run: Run) -> list[str]:
    """In what the scheme is not set as in the authors' run: the published number is of theirs."""
    position = run.config.model.position
    if (published := PUBLISHED.get(position.name)) is None:
        return []
    own, theirs = position.settings.leaves(), preset("paper")[0].position.but(name=position.name).settings.leaves()
    other = [_apart(name, own[name], theirs[name]) for name in own if own[name] != theirs[name]]
    said = f"this {position.name} is not set as the authors' ({'; '.join(other)}): their {published} is of another"
    return [said] if other else []


def other_content(config: RunConfig) -> list[str]:
    """How many dimensions of a head the content has, where it is not as many as in the authors' module."""
    model = config.model
    if model.position.name not in PUBLISHED:
        return []
    with torch.device("meta"):
        scheme = scheme_for(model, 0)
    theirs = model.head_width - innermost(scheme).published_lanes
    said = (
        f"content has {scheme.content} dimensions of a head, the authors' {theirs}: exact positions take more lanes "
        f"than theirs; `dnagoat train --content {theirs}` for as many"
    )
    return [said] if scheme.content != theirs else []


def _apart(name: str, own: Any, theirs: Any) -> str:
    """`rank 6, not 2`; of lists, and where one has none, the name is enough."""
    plain = all(isinstance(value, (str, int, float)) for value in (own, theirs))
    return f"{name} {own}, not {theirs}" if plain else f"other {name}"


MEASURE = Measure(
    "protocol-paper",
    "The GOAT authors' own protocol: N scored, 50 batches of the validation split, best of the evaluations",
    unit="nats per symbol, N among them",
    compute=measure,
    made_from=best_of_evaluations,
)
