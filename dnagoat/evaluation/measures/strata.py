"""Where a model is good and where not: NLL of repeats, GC deciles, CpG, by context, and in regions of BED files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dnagoat.evaluation.registry import MeasureOptions, Result
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
class Group:
    """One way to divide the scored bases: a label (M,) for each, and what each label means."""

    name: str
    question: str
    names: list[str]
    labels: Labels


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """NLL of each stratum of each group with its share of the bases, count, interval and blocks."""
    dataset = options.dataset_of(run)
    marks = [read_marks(path, dataset) for path in options.strata]  # before the computing, which takes minutes
    scores = scores_of(run, dataset, options, progress)
    blocks = blocks_of(dataset, scores.pieces, options.block)
    found = [
        {"name": group.name, "question": group.question, "strata": _rows(group, scores, blocks, options)}
        for group in groups(dataset, scores, marks)
    ]
    result: Result = {**about(run, scores.pieces, scores.counts(), blocks, options), "groups": found}
    result["warnings"] += [note for mark in marks for note in mark.notes]
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
    return Group("repeats", question, ["unique", "soft-masked"], masked.astype(np.int64))


def seen(dataset: Dataset, scores: Scores) -> Group:
    """The bases before, as a word: how often has the model read it in training, on either strand?"""
    times = occurrences(dataset, scores.pieces)
    names = [f"fewer than {WORD} read", "never", "once", "2 to 9", "10 to 99", "100 to 999", "1,000 or more"]
    question = f"How often the {WORD} bases before stand in the training split, on either strand"
    return Group("seen", question, names, np.searchsorted([0, 1, 2, 10, 100, 1000], times, side="right"))


def gc_deciles(dataset: Dataset, scores: Scores) -> Group:
    """Deciles of the pieces by the GC share of the known bases that they read; equal shares stay together."""
    pieces = scores.pieces
    gc = _gc_shares(dataset, pieces)
    cuts = np.unique(np.quantile(gc, np.linspace(0, 1, 11)))
    label = np.clip(np.searchsorted(cuts, gc, side="right") - 1, 0, max(len(cuts) - 2, 0))
    names = [f"{low:.1%} to {high:.1%}" for low, high in pairwise(cuts)] or [f"{cuts[0]:.1%}"]
    question = "Deciles of windows by their GC share"
    return Group("gc", question, names, np.repeat(label, pieces.lengths))


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
    return Group("cpg", question, ["elsewhere", "C of CpG", "G of CpG"], labels)


def distance(dataset: Dataset, scores: Scores) -> Group:
    """Bases before the scored one in its window, in powers of two: 0, 1, 2-3, 4-7, ..."""
    contexts = scores.pieces.contexts()
    labels = np.frexp(contexts)[1].astype(np.int64)  # 0 -> 0, 1 -> 1, 2..3 -> 2, 4..7 -> 3
    top = int(labels.max(initial=0))
    names = ["0", "1"][: top + 1] + [f"{2 ** (n - 1):,} to {2**n - 1:,}" for n in range(2, top + 1)]
    return Group("distance", "Bases of context: the distance to the window's start", names, labels)


def marked(marks: Marks, dataset: Dataset, scores: Scores) -> Group:
    labels = marks.hold(scores.pieces.positions()).astype(np.int64)
    return Group(marks.title, f"Bases that {marks.title} marks, and the rest", ["outside", "inside"], labels)


def _rows(group: Group, scores: Scores, blocks: NDArray[np.int64], options: MeasureOptions) -> list[Result]:
    pieces, size = scores.pieces, len(group.names)
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
            "name": name,
            "value": float(total / count) if count else None,
            "interval": listed(interval),
            "count": int(count),
            "share": float(count / whole),
            "blocks": int(several),
        }
        for name, total, count, interval, several in zip(
            group.names, sums.sum(0), counts.sum(0), intervals, held, strict=True
        )
    ]
