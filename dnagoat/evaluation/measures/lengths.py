"""Does more context than in training help or hurt: the same bases scored with 1x, 2x, .. of the training length.

Every row scores the last bases of the same stretches, so only the context before them changes. Long stretches pass
through the model a training length at a time, the rest waiting in its cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dnagoat.attention.kernels import DENSE_LIMIT
from dnagoat.config import ModelConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.intervals import LEVEL, block_bootstrap, block_bootstraps, listed
from dnagoat.evaluation.scoring.likelihood import Scores, score
from dnagoat.evaluation.scoring.pieces import Pieces, blocks_of, stretches
from dnagoat.evaluation.scoring.scored import about
from dnagoat.genome.alphabet import Ints
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, relabelled, silent
from dnagoat.training.kept.run import Run

# n stretches, L lengths

STRETCHES = 32  # scored at each length where --windows does not say otherwise


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """NLL of the same bases at each length, the gain over the shortest, and NLL by position at the longest."""
    dataset = options.dataset_of(run)
    wanted = parse(options.lengths, run.config.model.context)
    lengths, ends, warnings = fitting(dataset, wanted, options)
    refuse_dense(run.config.model, lengths[-1])
    model = run.model(options.which, options.device)
    once, scored = run.config.model.context, max(lengths[0] // 2, 1)
    batch_bases = options.batch_bases(dataset.window)
    whole = [
        score(
            model,
            dataset.tokens,
            _ending_at(ends, length, length),
            batch_bases,
            relabelled(progress, f"{length:,} bases of context"),
            once,
        )
        for length in lengths
    ]
    every = [_last(scores, ends, scored) for scores in whole]
    blocks = blocks_of(dataset, every[0].pieces, options.block)
    result = {
        "training_length": once,
        "scored_each": scored,
        **about(run, every[0].pieces, every[0].counts(), blocks, options),
        "lengths": _rows(lengths, every, blocks, options, once),
        "positions": _by_position(whole[-1], scored, blocks, options),
    }
    result["warnings"] += warnings
    return result


def parse(lengths: Sequence[str], context: int) -> list[int]:
    """`4x` is four training lengths, `4096` is bases; ascending, each once."""
    found = set()
    for text in lengths:
        number = text.lower().removesuffix("x").replace(",", "").replace("_", "")
        try:
            length = round(float(number) * context) if text.lower().endswith("x") else int(number)
        except (ValueError, OverflowError):
            raise OptionError(f"--lengths {text}: give multiples of the training length (4x) or bases (4096)") from None
        if length < 2:
            raise OptionError(f"--lengths {text}: a length is at least 2 bases")
        found.add(length)
    if not found:
        raise OptionError("--lengths is empty; give multiples of the training length (1x,2x,4x) or bases")
    return sorted(found)


def refuse_dense(config: ModelConfig, length: int) -> None:
    """A dense kernel holds all scores of a pass at once."""
    if length > DENSE_LIMIT and (config.kernel == "dense" or config.normaliser != "softmax"):
        why = "the dense kernel" if config.kernel == "dense" else config.normaliser
        raise OptionError(
            f"this run attends with {why}, whose memory is quadratic: lengths are at most {DENSE_LIMIT:,} bases"
        )


def fitting(dataset: Dataset, lengths: list[int], options: MeasureOptions) -> tuple[list[int], Ints, list[str]]:
    """The lengths that the split has room for, where the scored stretches end, and what was left out."""
    regions = stretches(dataset, options.split)
    room = max(end - start for start, end in regions)
    kept = [length for length in lengths if length <= room]
    if not kept:
        raise OptionError(
            f"--lengths: no stretch of the {options.split} split has {lengths[0]:,} bases, at most {room:,}"
        )
    warnings = [
        f"{length:,} bases are left out: the longest stretch of the {options.split} split has {room:,}"
        for length in lengths
        if length > room
    ]
    ends = np.concatenate([np.arange(start + kept[-1], end + 1, kept[-1]) for start, end in regions])
    count = min(options.windows or STRETCHES, len(ends))
    return kept, ends[np.linspace(0, len(ends) - 1, count).round().astype(np.int64)], warnings


def _ending_at(ends: Ints, length: int, scored: int) -> Pieces:
    return Pieces(ends - length, np.full_like(ends, length), np.full_like(ends, length - scored))


def _last(scores: Scores, ends: Ints, count: int) -> Scores:
    """The last `count` bases of each stretch alone."""
    kept = np.concatenate([np.arange(end - count, end) for end in scores.pieces.offsets[1:]])
    pieces = _ending_at(ends, int(scores.pieces.widths[0]), count)
    return Scores(pieces, scores.losses[kept], scores.hits[kept])


def _rows(lengths: list[int], every: list[Scores], blocks: Ints, options: MeasureOptions, context: int) -> list[Result]:
    sums = np.stack([scores.sums() for scores in every], axis=1)
    counts = every[0].counts()
    gains = sums[:, :1] - sums
    settings = (blocks, options.resamples, options.seed, LEVEL)
    intervals = block_bootstraps(np.concatenate([sums, gains], axis=1), counts, *settings)
    bases = counts.sum()
    return [
        {
            "length": length,
            "factor": length / context,
            "mean_context": every[place].pieces.mean_context(),
            "value": float(sums[:, place].sum() / bases),
            "interval": listed(intervals[place]),
            "gain": float(gains[:, place].sum() / bases),
            "gain_interval": listed(intervals[len(lengths) + place]) if place else None,
            "count": int(bases),
        }
        for place, length in enumerate(lengths)
    ]


def _by_position(longest: Scores, width: int, blocks: Ints, options: MeasureOptions) -> list[Result]:
    """NLL in bins of `width` positions of the longest stretches; other bases in each bin."""
    contexts = longest.pieces.contexts()
    known = ~np.isnan(longest.losses)
    owner = np.repeat(blocks, longest.pieces.lengths)
    rows = []
    for start in range(0, int(longest.pieces.widths[0]), width):
        chosen = known & (contexts >= start) & (contexts < start + width)
        losses: NDArray[np.float32] = longest.losses[chosen]
        if not len(losses):
            continue
        interval = block_bootstrap(losses, np.ones(len(losses)), owner[chosen], options.resamples, options.seed, LEVEL)
        rows.append(
            {
                "from": start,
                "to": min(start + width, int(longest.pieces.widths[0])),
                "value": float(losses.mean(dtype=np.float64)),
                "interval": listed(interval),
                "count": len(losses),
            }
        )
    return rows


MEASURE = Measure(
    "lengths",
    "Does more context than in training help: the same bases with 1 to 16 times the training length?",
    unit="nats per base",
    compute=measure,
    settings=("split", "seed", "windows", "block", "resamples", "lengths"),
    per_split=True,
)
