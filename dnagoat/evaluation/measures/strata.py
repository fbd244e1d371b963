"""Where a model is good and where not: NLL of repeats, GC deciles, CpG, by context, and in regions of BED files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.measure import SCORED, Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.intervals import FEWEST_BLOCKS, LEVEL, block_bootstraps, block_totals, listed
from dnagoat.evaluation.scoring.likelihood import Scores
from dnagoat.evaluation.scoring.marks import Marks, read_marks
from dnagoat.evaluation.scoring.pieces import Pieces, blocks_of
from dnagoat.evaluation.scoring.scored import about, scores_of
from dnagoat.evaluation.scoring.seen import WORD, occurrences
from dnagoat.genome.alphabet import CODE, MASKED, C, G, N
from dnagoat.genome.batches import gather
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.run import Run

# n pieces, M scored bases, S strata of a group

BATCH_BASES = 1 << 22

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Stratum:
    """Bases of one kind. Where kinds have an order, `low` and `high` are the least and the largest number of them, both
    within; None is no bound, and two of them are no number."""

    name: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Group:
    """One way to divide the scored bases: a label (M,) for each, and the stratum that each label means."""

    name: str
    question: str
    strata: list[Stratum]
    labels: Labels


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """NLL of each stratum of each group with its share of the bases, count, interval and blocks."""
    dataset = options.dataset_of(run)
    marks = [read_marks(path, dataset) for path in options.strata]  # before the computing, which takes minutes
    scores = scores_of(run, dataset, options, progress)
    blocks = blocks_of(dataset, scores.pieces, options.block)
    progress("dividing bases into strata", 0, 0)
    result = summarise(run, groups(dataset, scores, marks), scores, blocks, options)
    result["warnings"] += [note for mark in marks for note in mark.notes]
    return result


def summarise(
    run: Run, divisions: Iterable[Group], scores: Scores, blocks: NDArray[np.int64], options: MeasureOptions
) -> Result:
    """The result of scored bases that are divided so; the block of each piece is in `blocks`, (n,)."""
    found = [
        {"name": group.name, "question": group.question, "strata": _rows(group, scores, blocks, options)}
        for group in divisions
    ]
    result: Result = {**about(run, scores.pieces, scores.counts(), blocks, options), "groups": found}
    if result["blocks"] >= FEWEST_BLOCKS:  # below that every interval has been warned of
        result["warnings"] += _rare(found)
    return result


def _rare(found: list[Result]) -> Iterator[str]:
    """A bootstrap over a handful of blocks is too narrow, however many blocks the rest of the split has."""
    for group in found:
        rare = [f"{row['name']} ({row['blocks']})" for row in group["strata"] if 0 < row["blocks"] < FEWEST_BLOCKS]
        if rare:
            yield f"{group['name']}: fewer than {FEWEST_BLOCKS} blocks, intervals too narrow, in {', '.join(rare)}"


def groups(dataset: Dataset, scores: Scores, marks: list[Marks]) -> Iterator[Group]:
    """The divisions, one after the other: each is as large as the scores."""
    make: list[Callable[[Dataset, Scores], Group]] = [repeats, gc_deciles, cpg, distance]
    if len(dataset.starts("train")):
        make.insert(1, seen)
    make += [partial(marked, mark) for mark in marks]
    yield from (each(dataset, scores) for each in make)


def repeats(dataset: Dataset, scores: Scores) -> Group:
    masked = dataset.tokens[scores.pieces.positions()] & MASKED != 0
    question = "Soft-masked bases (repeats, where the source marks them) and the rest"
    return Group("repeats", question, [Stratum("unique"), Stratum("soft-masked")], masked.astype(np.int64))


def seen(dataset: Dataset, scores: Scores) -> Group:
    """The bases before, as a word: how often has the model read it in training, on either strand?"""
    times = occurrences(dataset, scores.pieces)
    strata = [
        *(Stratum(f"fewer than {WORD} read"), Stratum("never", 0, 0), Stratum("once", 1, 1)),
        *(_from_to(2, 9), _from_to(10, 99), _from_to(100, 999), Stratum("1,000 or more", 1000)),
    ]
    question = f"How often the {WORD} bases before stand in the training split, on either strand"
    return Group("seen", question, strata, np.searchsorted([0, 1, 2, 10, 100, 1000], times, side="right"))


def gc_deciles(dataset: Dataset, scores: Scores) -> Group:
    """Deciles of the pieces by the GC share of the known bases that they read; equal shares stay together."""
    pieces = scores.pieces
    gc = _gc_shares(dataset, pieces)
    cuts = np.unique(np.quantile(gc, np.linspace(0, 1, 11)))
    label = np.clip(np.searchsorted(cuts, gc, side="right") - 1, 0, max(len(cuts) - 2, 0))
    edges = list(pairwise(cuts.tolist())) or [(float(cuts[0]), float(cuts[0]))]
    strata = [Stratum(f"{low:.1%} to {high:.1%}" if low < high else f"{low:.1%}", low, high) for low, high in edges]
    question = "Deciles of windows by their GC share"
    return Group("gc", question, strata, np.repeat(label, pieces.lengths))


def _gc_shares(dataset: Dataset, pieces: Pieces) -> NDArray[np.float64]:
    """The GC share of each piece, its context included, (n,); 0 where no base is known."""
    shares = np.empty(len(pieces))
    for batch in pieces.batches(BATCH_BASES):
        codes = gather(dataset.tokens, pieces.starts[batch], int(pieces.widths[batch[0]]))
        known = np.maximum((codes < N).sum(axis=1), 1)
        shares[batch] = ((codes == C) | (codes == G)).sum(axis=1) / known
    return shares


def cpg(dataset: Dataset, scores: Scores) -> Group:
    """A C before a G, and a G after a C, wherever the windows are cut."""
    at = scores.pieces.positions()
    codes = dataset.tokens[at] & np.uint8(CODE)
    before = dataset.tokens[np.maximum(at - 1, 0)] & np.uint8(CODE)
    after = dataset.tokens[np.minimum(at + 1, len(dataset.tokens) - 1)] & np.uint8(CODE)
    labels = np.where((codes == C) & (after == G), 1, np.where((codes == G) & (before == C), 2, 0))
    question = "The dinucleotide CpG, which methylation makes rare, and the rest"
    return Group("cpg", question, [Stratum("elsewhere"), Stratum("C of CpG"), Stratum("G of CpG")], labels)


def distance(dataset: Dataset, scores: Scores) -> Group:
    """Bases before the scored one in its window, in powers of two: 0, 1, 2-3, 4-7, ..."""
    contexts = scores.pieces.contexts()
    labels = np.frexp(contexts)[1].astype(np.int64)  # 0 -> 0, 1 -> 1, 2..3 -> 2, 4..7 -> 3
    top = int(labels.max(initial=0))
    strata = [Stratum("0", 0, 0)] + [_from_to(2 ** (n - 1), 2**n - 1) for n in range(1, top + 1)]
    return Group("distance", "Bases of context: the distance to the window's start", strata, labels)


def _from_to(low: int, high: int) -> Stratum:
    """512 to 1,023, both within."""
    return Stratum(f"{low:,}" if low == high else f"{low:,} to {high:,}", low, high)


def marked(marks: Marks, dataset: Dataset, scores: Scores) -> Group:
    labels = marks.hold(scores.pieces.positions()).astype(np.int64)
    strata = [Stratum("outside"), Stratum("inside")]
    return Group(marks.title, f"Bases that {marks.title} marks, and the rest", strata, labels)


def _rows(group: Group, scores: Scores, blocks: NDArray[np.int64], options: MeasureOptions) -> list[Result]:
    pieces, size = scores.pieces, len(group.strata)
    cell = np.repeat(np.arange(len(pieces)), pieces.lengths) * size + group.labels
    known = ~np.isnan(scores.losses)
    shape = (len(pieces), size)
    sums = np.bincount(cell[known], scores.losses[known], minlength=len(pieces) * size).reshape(shape)
    counts = np.bincount(cell[known], minlength=len(pieces) * size).reshape(shape)
    intervals = block_bootstraps(sums, counts, blocks, options.resamples, options.seed, LEVEL)
    held = np.count_nonzero(block_totals(counts, blocks), axis=0)
    whole = counts.sum()
    return [
        {
            "name": stratum.name,
            "low": stratum.low,
            "high": stratum.high,
            "value": float(total / count) if count else None,
            "interval": listed(interval),
            "count": int(count),
            "share": float(count / whole),
            "blocks": int(several),
        }
        for stratum, total, count, interval, several in zip(
            group.strata, sums.sum(0), counts.sum(0), intervals, held, strict=True
        )
    ]


MEASURE = Measure(
    "strata",
    "Where is it good: repeats, GC deciles, CpG, little or much context, regions of BED files?",
    unit="nats per base",
    compute=measure,
    settings=(*SCORED, "strata"),
    per_split=True,
)
