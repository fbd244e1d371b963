"""Does a model know that DNA has two strands: how much does the other strand of the same bases cost it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.intervals import LEVEL, block_bootstraps, listed
from dnagoat.evaluation.scoring.likelihood import piece_sums, window_scores
from dnagoat.evaluation.scoring.pieces import Pieces, blocks_of, sliding, stretches
from dnagoat.evaluation.scoring.scored import about
from dnagoat.genome.alphabet import Codes, reverse_complement
from dnagoat.genome.batches import gather
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run

# n windows, M scored bases

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """Mean |NLL(x) - NLL(rc x)| over windows, the distribution of the difference, and the mean of both strands."""
    dataset = options.dataset_of(run)
    pieces = sliding(stretches(dataset, options.split), dataset.window, dataset.window).spread(options.windows)
    model = run.model(options.which, options.device)
    forward, reverse, counts = both_strands(
        model, dataset.tokens, pieces, options.batch_bases(dataset.window), progress
    )
    known = counts > 0
    gaps = np.divide(forward - reverse, counts, out=np.zeros_like(forward), where=known)
    blocks = blocks_of(dataset, pieces, options.block)
    settings = (blocks, options.resamples, options.seed, LEVEL)
    size, sign = block_bootstraps(np.stack([np.abs(gaps), gaps], axis=1), known, *settings)
    average, gain = block_bootstraps(np.stack([(forward + reverse) / 2, (forward - reverse) / 2], 1), counts, *settings)
    return {
        "value": float(np.abs(gaps[known]).mean()),
        "interval": listed(size),
        "signed": {"value": float(gaps[known].mean()), "interval": listed(sign)},
        "quantiles": [{"q": q, "value": float(np.quantile(gaps[known], q))} for q in QUANTILES],
        "rc_average": {
            "value": float((forward + reverse).sum() / 2 / counts.sum()),
            "interval": listed(average),
            "gain": float((forward - reverse).sum() / 2 / counts.sum()),
            "gain_interval": listed(gain),
        },
        **about(run, pieces, counts, blocks, options),
    }


Sums = NDArray[np.float64]


def both_strands(
    model: DnaLM, tokens: Codes, pieces: Pieces, batch_bases: int | None, progress: Progress = silent
) -> tuple[Sums, Sums, Sums]:
    """Nats of each whole piece (n,) as it stands and of its reverse complement, and how many bases that is.

    Only bases that both readings score count: all but N, and both ends where the model scores no first base.
    """
    losses = np.empty((2, pieces.offsets[-1]), dtype=np.float32)
    done = 0
    progress("scoring both strands of windows", 0, len(pieces))
    for batch in pieces.batches(bases_at_once(model, batch_bases, int(pieces.widths.max(initial=1)))):
        codes = gather(tokens, pieces.starts[batch], int(pieces.widths[batch[0]]))
        scored, places = pieces.places(batch)
        losses[0, places] = window_scores(model, codes)[0][scored]
        losses[1, places] = window_scores(model, reverse_complement(codes))[0][:, ::-1][scored]
        done += len(batch)
        progress("scoring both strands of windows", done, len(pieces))
    known: NDArray[np.bool_] = ~np.isnan(losses.sum(axis=0))
    forward, reverse = (piece_sums(pieces, np.where(known, strand, np.float32(0))) for strand in losses)
    return forward, reverse, piece_sums(pieces, known)


MEASURE = Measure(
    "rc",
    "Does the other strand of the same bases cost the same?",
    unit="nats per base",
    compute=measure,
    settings=("split", "seed", "windows", "block", "resamples"),
    per_split=True,
)
