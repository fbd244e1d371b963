"""Which bases of a run's split have been scored: base by base, once, kept beside the results for every summary of them.

evaluation/bases-SPLIT-HASH.npz   starts, widths, skips, origins (n,), losses (M,) in nats with NaN at N, hits (M,), key

The key says whose scores these are (checkpoint, dataset, pieces, version of the tool) and HASH is one of the key, so
that other pieces or another checkpoint never take the place of the scores that a result was made from. `origins` are
where the contig of each piece begins: blocks of the genome are counted from there.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dnagoat
from dnagoat.evaluation.measure import MeasureOptions, Result
from dnagoat.evaluation.scoring.intervals import LEVEL, few_blocks
from dnagoat.evaluation.scoring.likelihood import BASES, Scores, score
from dnagoat.evaluation.scoring.pieces import Pieces, contig_index, rooms, sliding, stretches
from dnagoat.files import written_whole
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import Run
from dnagoat.training.step.precision import computing, matrix_products

RESCORED = 256  # windows


@dataclass(frozen=True)
class KeptScores:
    """Scores with whose they are, and where the contig of each piece begins, (n,)."""

    key: dict[str, Any]
    scores: Scores
    origins: Ints

    def blocks(self, bases: int) -> Ints:
        """A number for the block of `bases` contiguous bases of a contig that each piece lies in, (n,)."""
        pieces = self.scores.pieces
        blocks: Ints = self.origins + (pieces.starts + pieces.skips - self.origins) // bases
        return blocks


def pieces_of(dataset: Dataset, options: MeasureOptions) -> Pieces:
    """What of the split is scored: plain tiles as wide as the dataset's windows, or a sliding context.

    A sliding context begins before the split's stretches where the bases there were not trained on.
    """
    context = options.context or dataset.window
    regions = stretches(dataset, options.split)
    room = rooms(dataset, regions, options.split)
    return sliding(regions, context, options.stride or context, room).spread(options.windows)


def scores_of(run: Run, dataset: Dataset, options: MeasureOptions, progress: Progress = silent) -> Scores:
    """The scored bases of a run, read back where the same checkpoint was scored on the same pieces, else computed."""
    pieces = pieces_of(dataset, options)
    key = {
        "checkpoint": model_sha256(run.checkpoint(options.which)),
        "dataset": dataset.content_hash,
        "pieces": identity(pieces),
        "tool_version": dnagoat.__version__,
    } | ({} if options.precision is None else {"precision": options.precision})
    short = sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]
    file = run.result_file(f"bases-{options.split}-{short}.npz")
    kept = None if options.fresh else read_kept(file)
    if kept is not None and kept.key == key:
        return kept.scores
    run.require_room()
    model = run.model(options.which, options.device)
    precision = options.precision or "fp32"
    with matrix_products(precision), computing(precision, model.embedding.weight.device):
        scores = score(model, dataset.tokens, pieces, options.batch_bases(dataset.window), progress)
    keep_scores(run.evaluations[0] / file.name, key, scores, _origins(dataset, pieces))
    return scores


def difference_to_float32(
    run: Run, dataset: Dataset, options: MeasureOptions, scores: Scores, progress: Progress = silent
) -> tuple[float, int]:
    """By how many nats a base scores in another precision are above those in float32, on so many windows of them."""
    count = len(scores.pieces)
    places = np.linspace(0, count - 1, min(count, RESCORED)).round().astype(np.int64)
    pieces = scores.pieces.take(places)
    model = run.model(options.which, options.device)
    exact = score(model, dataset.tokens, pieces, options.batch_bases(dataset.window), progress)
    return float((scores.sums()[places].sum() - exact.sums().sum()) / exact.counts().sum()), len(pieces)


def identity(pieces: Pieces) -> str:
    """sha256 of which bases are scored with which context: equal for two runs that can be paired."""
    rows = np.stack([pieces.starts, pieces.widths, pieces.skips]).astype("<i8")
    return sha256(rows.tobytes()).hexdigest()


def _origins(dataset: Dataset, pieces: Pieces) -> Ints:
    """Where the contig of each piece begins in the token store, (n,)."""
    offsets = np.array([contig.offset for contig in dataset.contigs], dtype=np.int64)
    origins: Ints = offsets[contig_index(dataset, pieces.starts)]
    return origins


def read_kept(file: Path) -> KeptScores | None:
    """What lies in a file of scores; None where there is none, or a damaged one: they are computed again."""
    if not file.exists():
        return None
    try:
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as kept:
            pieces = Pieces(kept["starts"], kept["widths"], kept["skips"])
            scores = Scores(pieces, kept["losses"], kept["hits"])
            return KeptScores(json.loads(str(kept["key"])), scores, kept["origins"])
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        return None


def keep_scores(file: Path, key: dict[str, Any], scores: Scores, origins: Ints) -> None:
    """Keeps what was scored under the key that says whose it is; `origins` (n,) are where the pieces' contigs begin."""
    pieces = scores.pieces
    with written_whole(file) as aside, aside.open("wb") as handle:
        np.savez(
            handle,
            starts=pieces.starts,
            widths=pieces.widths,
            skips=pieces.skips,
            origins=origins,
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
        "pieces": identity(pieces),
        "mean_context": pieces.mean_context(),
        "blocks": different,
        "block_bases": options.block,
        "resamples": options.resamples,
        "level": LEVEL,
        "warnings": warnings(run, options, different),
    }


def warnings(run: Run, options: MeasureOptions, blocks: int) -> list[str]:
    """What a reader must know before comparing the number, a sentence each."""
    said = few_blocks(blocks, options.block)
    if options.split == "val":
        said.append("the checkpoint was chosen on this split: its number is optimistic, the test split's is not")
    if options.split == "train":
        said.append("the model was trained on this split")
    if options.other_dataset:
        said.append(f"scored on {options.other_dataset}, which the run was not trained on; baselines are counted there")
    if options.context is not None and options.context > (trained := run.config.model.context):
        said.append(f"read {options.context:,} bases at once, and the model was trained on {trained:,}")
    if run.config.model.classes > BASES:
        said.append(
            "trained by the authors' protocol: the first base of each window is not scored, the class N is left out"
        )
    return said
