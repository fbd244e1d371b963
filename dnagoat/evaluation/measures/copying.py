"""Does a model copy from its context: what a stretch costs when it has just been read, and when another was.

The same bases at the same positions are scored three times: after another stretch, after themselves and after their
own reverse complement. A model that looks earlier occurrences up pays next to nothing for the second copy; one that
only knows its training's repeats by heart pays the same. Random stretches, which nobody knows by heart, stand beside
real ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError
from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.intervals import LEVEL, block_bootstraps, listed
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.evaluation.scoring.pieces import Pieces, blocks_of, sliding, stretches
from dnagoat.evaluation.scoring.scored import about
from dnagoat.genome.alphabet import Codes, reverse_complement
from dnagoat.genome.batches import gather
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run
from dnagoat.wording import counted

# n stretches of L bases, B of them at once

STRETCHES = 256  # scored where --windows does not say otherwise
HALVINGS = 7  # at most, of the context: 256, 128, .. of 512
SHORTEST = 32  # bases; the last occurrence of 20 bases is what the repeat copier looks for

BEFORE: dict[str, Callable[[Codes, Codes], Codes]] = {
    "another stretch": lambda _, other: other,
    "its copy": lambda own, _: own,
    "its reverse complement": lambda own, _: reverse_complement(own),
}

Sums = NDArray[np.float64]


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """NLL of stretches by what stands before them, and the gain over another stretch, for each length of a stretch."""
    dataset = options.dataset_of(run)
    model = run.model(options.which, options.device)
    sizes = _sizes(min(run.config.model.context, dataset.window))
    pieces = sliding(stretches(dataset, options.split), dataset.window, dataset.window)
    pieces = pieces.spread(options.windows or STRETCHES)
    if len(pieces) < 2:
        raise OptionError(
            f"--what copying: the {options.split} split has {counted(len(pieces), 'window')}; it takes 2 or more"
        )
    blocks = blocks_of(dataset, pieces, options.block)
    rows, counts = [], np.zeros(len(pieces))
    progress("copies, sizes of stretches", 0, len(sizes))
    for done, size in enumerate(sizes):
        random = np.random.default_rng([options.seed, size]).integers(0, 4, (len(pieces), size)).astype(np.uint8)
        for name, stretch in (("real", _last(dataset, pieces, size)), ("random", random)):
            sums, known = _each(model, stretch)
            rows += _rows(name, size, sums, known, blocks, options)
            counts = known if name == "real" else counts
        progress("copies, sizes of stretches", done + 1, len(sizes))
    longest = next(row for row in reversed(rows) if row["stretch"] == "real" and row["before"] == "its copy")
    return {
        "value": longest["gain"],
        "interval": longest["gain_interval"],
        **about(run, pieces, counts, blocks, options),
        "rows": rows,
    }


def _sizes(context: int) -> list[int]:
    """Halves of the context, a quarter, .. down to 32 bases, ascending."""
    sizes = [context // 2**times for times in range(1, HALVINGS + 1)]
    fitting = [size for size in sizes if size >= SHORTEST]
    if not fitting:
        raise OptionError(f"--what copying: two stretches of {SHORTEST} bases do not fit a context of {context}")
    return fitting[::-1]


def _last(dataset: Dataset, pieces: Pieces, size: int) -> Codes:
    """The last `size` bases of each piece, (n, L)."""
    return gather(dataset.tokens, pieces.starts + pieces.widths - size, size)


def _each(model: DnaLM, stretch: Codes) -> tuple[Sums, Sums]:
    """Nats of each stretch after each kind of context (n, 3), and how many of its bases are scored (n,).

    The other stretch is the one half of the list away, far off in the genome.
    """
    size = stretch.shape[1]
    others = np.roll(stretch, len(stretch) // 2, axis=0)
    known = stretch < 4
    sums = []
    for before in BEFORE.values():
        codes = np.concatenate([before(stretch, others), stretch], axis=1)
        step = max(1, bases_at_once(model, None, codes.shape[1]) // codes.shape[1])
        nats = [window_scores(model, codes[first : first + step])[0][:, size:] for first in range(0, len(codes), step)]
        sums.append(np.where(known, np.concatenate(nats), 0).sum(axis=1, dtype=np.float64))
    return np.stack(sums, axis=1), known.sum(axis=1).astype(np.float64)


def _rows(
    name: str, size: int, sums: Sums, counts: Sums, blocks: NDArray[np.int64], options: MeasureOptions
) -> list[Result]:
    gains = sums[:, :1] - sums
    intervals = block_bootstraps(
        np.concatenate([sums, gains], axis=1), counts, blocks, options.resamples, options.seed, LEVEL
    )
    bases = counts.sum()
    return [
        {
            "stretch": name,
            "length": size,
            "before": before,
            "value": float(sums[:, place].sum() / bases),
            "interval": listed(intervals[place]),
            "gain": float(gains[:, place].sum() / bases),
            "gain_interval": listed(intervals[len(BEFORE) + place]) if place else None,
            "count": int(bases),
        }
        for place, before in enumerate(BEFORE)
    ]


MEASURE = Measure(
    "copying",
    "Does it copy from its context: a stretch after itself, after its reverse complement, after another one?",
    unit="nats per base, gained by reading the stretch a second time",
    compute=measure,
    settings=("split", "seed", "windows", "block", "resamples"),
    per_split=True,
)
