"""Which bases of a run's split have been scored: base by base, once, kept beside the results for every summary of them.

evaluation/bases-SPLIT.npz   starts, widths, skips (n,), losses (M,) in nats with NaN at N, hits (M,), key
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.intervals import FEWEST_BLOCKS, LEVEL
from dnagoat.evaluation.likelihood import BASES, Scores, score
from dnagoat.evaluation.measures import MeasureOptions, Progress, Result, silent
from dnagoat.evaluation.pieces import Pieces, sliding, stretches
from dnagoat.files import written_whole
from dnagoat.genome.dataset import Dataset
from dnagoat.runs import Run
from dnagoat.training.checkpoint import model_sha256


def pieces_of(dataset: Dataset, options: MeasureOptions) -> Pieces:
    """What of the split is scored: plain tiles as wide as the dataset's windows, or a sliding context."""
    context = options.context or dataset.window
    return sliding(stretches(dataset, options.split), context, options.stride or context).spread(options.windows)


def scores_of(run: Run, dataset: Dataset, options: MeasureOptions, progress: Progress = silent) -> Scores:
    """The scored bases of a run, read back where the same checkpoint was scored on the same pieces, else computed."""
    pieces = pieces_of(dataset, options)
    file = run.path / "evaluation" / f"bases-{options.split}.npz"
    key = {"checkpoint": model_sha256(run.checkpoint(options.which)), "dataset": dataset.content_hash}
    kept = _read(file, key, pieces)
    if kept is not None:
        return kept
    model = run.model(options.which, options.device)
    scores = score(model, dataset.tokens, pieces, options.batch_size * dataset.window, progress)
    _write(file, key, scores)
    return scores


def _read(file: Path, key: dict[str, Any], pieces: Pieces) -> Scores | None:
    if not file.exists():
        return None
    try:
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as kept:
            same = json.loads(str(kept["key"])) == key and all(
                np.array_equal(kept[name], getattr(pieces, name)) for name in ("starts", "widths", "skips")
            )
            return Scores(pieces, kept["losses"], kept["hits"]) if same else None
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None  # damaged: it is computed again


def _write(file: Path, key: dict[str, Any], scores: Scores) -> None:
    pieces = scores.pieces
    with written_whole(file) as aside, aside.open("wb") as handle:
        np.savez(
            handle,
            starts=pieces.starts,
            widths=pieces.widths,
            skips=pieces.skips,
            losses=scores.losses,
            hits=scores.hits,
            key=np.array(json.dumps(key)),
        )


def about(
    run: Run, pieces: Pieces, counts: NDArray[np.float64], blocks: NDArray[np.int64], options: MeasureOptions
) -> Result:
    """What every result over scored bases says of them, and what a reader must know before comparing it."""
    different = len(np.unique(blocks))
    return {
        "count": int(counts.sum()),
        "windows": len(pieces),
        "mean_context": pieces.mean_context(),
        "blocks": different,
        "block_bases": options.block,
        "resamples": options.resamples,
        "level": LEVEL,
        "warnings": warnings(run, options, different),
    }


def warnings(run: Run, options: MeasureOptions, blocks: int) -> list[str]:
    """What a reader must know before comparing the number, a sentence each."""
    said = []
    if blocks < FEWEST_BLOCKS:
        said.append(
            f"only {blocks} blocks of {options.block:,} bases: the interval is too narrow below {FEWEST_BLOCKS}"
        )
    if options.split == "val":
        said.append("the checkpoint was chosen on this split: its number is optimistic, the test split's is not")
    if options.split == "train":
        said.append("the model was trained on this split")
    if options.other_dataset:
        said.append(f"scored on {options.other_dataset}, which the run was not trained on; baselines are counted there")
    if run.config.model.classes > BASES:
        said.append(
            "trained by the authors' protocol: the first base of each window is not scored, the class N is left out"
        )
    return said
