"""How many nats a base costs the model, how sure that is, and how it compares with the baselines on the same bases."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.hashed import CROWDED, HashedCounts
from dnagoat.evaluation.measure import SCORED, Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.intervals import LEVEL, Interval, block_bootstraps, listed
from dnagoat.evaluation.scoring.ladder import Ladder, Rung, count_training, ladder_sums
from dnagoat.evaluation.scoring.likelihood import Scores, piece_sums
from dnagoat.evaluation.scoring.pieces import blocks_of
from dnagoat.evaluation.scoring.scored import about, difference_to_float32, scores_of
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run

BITS = 1 / math.log(2)
Sums = NDArray[np.float64]


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """NLL of a split in nats and bits a base, perplexity, accuracy, and the gain over each baseline."""
    dataset = options.dataset_of(run)
    scores = scores_of(run, dataset, options, progress)
    blocks = blocks_of(dataset, scores.pieces, options.block)
    ladder = ladder_sums(dataset, scores, progress) if len(dataset.starts("train")) else {}
    hashed = count_training(dataset).hashed if ladder else None
    progress("resampling blocks", 0, 0)
    result = summarise(run, scores, ladder, blocks, options.but(context=options.context or dataset.window), hashed)
    if options.precision is not None:
        above, windows = difference_to_float32(run, dataset, options, scores, progress)
        result["precision"] = {"name": options.precision, "above_float32": above, "windows": windows}
        result["warnings"].append(
            f"scored in {options.precision}: {above:+.2g} nats a base from float32 on {windows:,} of the windows"
        )
    return result


def summarise(
    run: Run,
    scores: Scores,
    ladder: Ladder,
    blocks: NDArray[np.int64],
    options: MeasureOptions,
    hashed: HashedCounts | None = None,
) -> Result:
    """The result of scored bases: nats (n,) of the pieces under each baseline, and the block of each piece, (n,)."""
    baselines, value, interval = _compared(scores, ladder, blocks, options)
    context = options.context or int(scores.pieces.widths.max())
    stride = options.stride or context
    result: Result = {
        "value": value,
        "interval": listed(interval),
        "bits": value * BITS,
        "bits_interval": listed(interval, BITS),
        "perplexity": math.exp(value),
        "accuracy": float(piece_sums(scores.pieces, scores.hits).sum() / scores.counts().sum()),
        **about(run, scores.pieces, scores.counts(), blocks, options),
        "context": context,
        "stride": stride,
        "short_context": scores.pieces.short(context - stride),  # bases with fewer than context - stride before them
        "selection": options.split == "val",
        "baselines": baselines,
        "hashed": hashed and {"order": hashed.order, "slots": len(hashed.tags), "load": hashed.load},
        "verdict": verdict(value, baselines),
    }
    if hashed and hashed.load > CROWDED:
        result["warnings"].append(_crowded(hashed))
    return result


def _crowded(hashed: HashedCounts) -> str:
    rung = Rung("hashed", hashed.order)
    return (
        f"{rung.name} is left out: the training split has {hashed.load:.1f} contexts for each of the "
        f"table's {len(hashed.tags):,} slots, more than {CROWDED:g}"
    )


def _compared(
    scores: Scores, ladder: Ladder, blocks: NDArray[np.int64], options: MeasureOptions
) -> tuple[list[Result], float, Interval | None]:
    """The baselines' rows, and the model's own value and interval, all in the same resamples of the same blocks."""
    own, counts = scores.sums(), scores.counts()
    bases = counts.sum()
    table = np.stack([own, *ladder.values(), *(sums - own for sums in ladder.values())], axis=1)
    intervals = block_bootstraps(table, counts, blocks, options.resamples, options.seed, LEVEL)
    rows = [
        {
            "name": rung.name,
            "kind": rung.kind,
            "order": rung.order,
            "value": float(sums.sum() / bases),
            "interval": listed(intervals[1 + place]),
            "gain": float((sums - own).sum() / bases),
            "gain_interval": listed(intervals[1 + len(ladder) + place]),
        }
        for place, (rung, sums) in enumerate(ladder.items())
    ]
    return rows, float(own.sum() / bases), intervals[0]


def verdict(value: float, baselines: list[Result]) -> Result:
    """Against the best of the baselines: `beats` is True or False where the gain's interval excludes 0, else None."""
    if not baselines:
        sentence = f"At {value:.4f} nats a base; the dataset has no training split, so there is nothing to count."
        return {"best_baseline": None, "gain": None, "beats": None, "beaten": [], "sentence": sentence}
    best = min(baselines, key=lambda row: row["value"])
    low, high = best["gain_interval"] or (-math.inf, math.inf)
    beats = True if low > 0 else False if high < 0 else None
    against = {True: "is better than", False: "is worse than", None: "cannot be told from"}[beats]
    beaten = [row["name"] for row in baselines if row["gain_interval"] and row["gain_interval"][0] > 0]
    sentence = (
        f"At {value:.4f} nats a base the model beats {len(beaten)} of {len(baselines)} baselines and {against} "
        f"the best of them, {best['name']} at {best['value']:.4f}."
    )
    return {
        "best_baseline": best["name"],
        "gain": best["gain"],
        "beats": beats,
        "beaten": beaten,
        "sentence": sentence,
    }


MEASURE = Measure(
    "nll",
    "How many nats a base, and how many fewer than tables of counts on the same bases?",
    unit="nats per base",
    compute=measure,
    settings=SCORED,
    per_split=True,
)
