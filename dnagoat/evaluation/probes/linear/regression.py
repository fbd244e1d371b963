"""Do embeddings know more than k-mers? Logistic regression on either, on sequence that the model was not trained on.

The same examples, the same grid of penalties, the same resampled blocks for all: embeddings of each run (nothing before
a region is read), and counts of 4-mers and 6-mers.
"""

# n examples, F features, K blocks

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from dnagoat.counts.kmers import kmer_codes
from dnagoat.errors import DatasetError, MissingError, OptionError
from dnagoat.evaluation.measure import Result
from dnagoat.evaluation.outputs.embeddings.texts import Text
from dnagoat.evaluation.outputs.embeddings.vectors import EmbedOptions, Reader
from dnagoat.evaluation.probes.linear.classes import Asked, Classes
from dnagoat.evaluation.probes.linear.ranking import auroc, average_precision
from dnagoat.evaluation.scoring.intervals import LEVEL, few_blocks, resample_weights
from dnagoat.evaluation.scoring.pieces import blocks_at, contig_index
from dnagoat.frozen import Frozen
from dnagoat.genome.alphabet import Ints, reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import Progress, relabelled, silent
from dnagoat.training.kept.run import Run, Which

Features = NDArray[np.float32]
Floats = NDArray[np.float64]

KMERS: Final = (4, 6)
PENALTIES: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # scikit-learn's C: the smaller, the stronger
MEASURES: Final = {"auroc": auroc, "average_precision": average_precision}


class LinearOptions(Frozen):
    """How examples are embedded, divided and judged."""

    layer: str = "norm"
    pool: Literal["mean", "last"] = "mean"
    strands: Literal["own", "both"] = "own"
    by: Literal["split", "contig", "block"] = Field(
        "split", description="fitted on validation and tested on test; folds"
    )
    folds: int = Field(5, ge=2, description="of contigs or blocks")
    most: int = Field(2000, ge=10, description="examples of each split, spread over it")
    block: int = Field(20_000, ge=1, description="bases of a block of the bootstrap, and of a fold's")
    resamples: int = Field(2000, ge=100)
    seed: int = Field(0, ge=0, lt=2**64)
    which: Which = "best"
    device: str = "cpu"
    batch_size: int = Field(64, ge=1)


def name_arms(labels: Sequence[str], runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Runs with their labels, or with their own names beside them where runs share one; each run is given once."""
    named = [
        label if list(labels).count(label) == 1 else f"{label}, {run.name}"
        for label, run in zip(labels, runs, strict=True)
    ]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise OptionError(f"two runs are called {twice}; give each run once, in folders of different names")
    return list(zip(named, runs, strict=True))


def require_sklearn() -> None:
    """A `MissingError` where scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingError(
            "`dnagoat probe linear` needs the package scikit-learn; install dnagoat[probe] "
            "(`pip install 'dnagoat[probe]'`)"
        ) from None


def probe_linear(
    runs: Sequence[tuple[str, Run]],
    dataset: Dataset,
    asked: Asked,
    options: LinearOptions,
    progress: Progress = silent,
    say: Callable[[str], None] = lambda _: None,
) -> Result:
    """Every run, named by its arm, and counts of k-mers, on the classes that are `asked` for; see docs/embeddings.md.

    Errors: `MissingError` without scikit-learn, `OptionError` and `SourceError` where there are not two classes in each
    part, `DatasetError` where runs were trained on different datasets.
    """
    require_sklearn()
    for _, run in runs:
        _refuse_other_dataset(run, dataset)
    longest = min(run.config.model.context for _, run in runs)
    classes, texts = _known(asked.read(dataset, longest, say).spread(options.most), dataset)
    divisions = _divisions(classes, dataset, options)
    blocks = blocks_at(dataset, classes.spans[:, 0], options.block)
    made = _features(runs, texts, options, progress)
    tested = np.sort(np.concatenate([test for _, test in divisions]))
    judged = {}
    for number, (name, features) in enumerate(made.items()):
        progress("fitting", number, len(made))
        judged[name] = _scores(features, classes.positive, blocks, divisions)[tested]
    found = _judge(judged, [arm for arm, _ in runs], classes.positive[tested], blocks[tested], options)
    different = len(np.unique(blocks[tested]))
    return {
        "probe": "linear",
        "unit": "AUROC, average precision",
        "level": LEVEL,
        "regions": asked.regions,
        "classes": list(classes.names),
        "dataset_hash": dataset.content_hash,
        **options.model_dump(mode="json", exclude={"device", "batch_size"}),
        "fitted": int(sum(len(fit) for fit, _ in divisions) / len(divisions)),
        "tested": len(tested),
        "positive": int(classes.positive[tested].sum()),
        "blocks": different,
        "warnings": few_blocks(different, options.block),
        "examples": classes.where(dataset),
        "left_out": classes.left_out,
        "runs": [{"arm": arm, "scheme": run.config.model.position.name, "run": str(run.path)} for arm, run in runs],
        "rows": [
            {"features": name, "width": made[name].shape[1], **{m: found[m][name] for m in MEASURES}} for name in made
        ],
        "pairs": [
            {"left": left, "right": right, **{m: found[m][left, right] for m in MEASURES}}
            for left, right in _pairs([arm for arm, _ in runs])
        ],
    }


def _refuse_other_dataset(run: Run, dataset: Dataset) -> None:
    if run.config.dataset_hash != dataset.content_hash:
        raise DatasetError(
            f"{run.path} was not trained on {dataset.path}, so that its held-out sequence is another; give runs of one "
            "dataset"
        )


def _known(classes: Classes, dataset: Dataset) -> tuple[Classes, list[Text]]:
    """The examples that have a known base, and their texts."""
    texts = classes.texts(dataset)
    known = np.array([bool((text.read(False, 0, text.length, 0) < 4).any()) for text in texts])
    return classes.take(known, "without a known base"), [text for text, kept in zip(texts, known, strict=True) if kept]


def _features(
    runs: Sequence[tuple[str, Run]], texts: Sequence[Text], options: LinearOptions, progress: Progress
) -> dict[str, Features]:
    """What each text is described by: embeddings of each run, by its arm, and counts of k-mers."""
    made = {arm: _embedded(run, texts, options, relabelled(progress, arm)) for arm, run in runs}
    return made | {f"{k}-mer counts": kmer_shares(texts, k, both=options.strands == "both") for k in KMERS}


def _pairs(arms: Sequence[str]) -> list[tuple[str, str]]:
    """Each run against the counts, and against the first run."""
    against_counts = [(arm, f"{k}-mer counts") for arm in arms for k in KMERS]
    return [*against_counts, *((arm, arms[0]) for arm in arms[1:])]


def _embedded(run: Run, texts: Sequence[Text], options: LinearOptions, progress: Progress) -> Features:
    model = run.model(options.which, options.device)
    how = EmbedOptions(layer=options.layer, pool=options.pool, strands=options.strands, before=0)
    reader = Reader(model, how, options.batch_size * model.config.context)
    return np.stack([one.vector for one in reader.embed(texts, len(texts), progress)])


def kmer_shares(texts: Sequence[Text], k: int, *, both: bool = False) -> Features:
    """How often each k-mer stands in each text, over all known ones, (n, 4^k); of both strands together if asked."""
    shares = np.zeros((len(texts), 4**k), dtype=np.float32)
    for row, text in enumerate(texts):
        codes = text.read(False, 0, text.length, 0)
        for strand in (codes, reverse_complement(codes)) if both else (codes,):
            if len(strand) >= k:
                numbers, whole = kmer_codes(strand, k)
                shares[row] += np.bincount(numbers[whole], minlength=4**k)
    shares /= np.maximum(shares.sum(1, keepdims=True), 1)
    return shares


def _divisions(classes: Classes, dataset: Dataset, options: LinearOptions) -> list[tuple[Ints, Ints]]:
    """(fitted, tested) examples: validation and test, or folds of contigs or blocks; each with both classes."""
    if options.by == "split":
        parts = [(np.flatnonzero(~classes.tested), np.flatnonzero(classes.tested))]
    else:
        starts = classes.spans[:, 0]
        groups = contig_index(dataset, starts) if options.by == "contig" else blocks_at(dataset, starts, options.block)
        _, number = np.unique(groups, return_inverse=True)
        folds = min(options.folds, int(number.max()) + 1)
        if folds < 2:
            raise OptionError(f"--by {options.by}: all examples lie in one {options.by}; give another --by")
        parts = [
            (np.flatnonzero(number % folds != fold), np.flatnonzero(number % folds == fold)) for fold in range(folds)
        ]
    for fit, _ in parts:
        _refuse_one_class(classes, fit, "validation" if options.by == "split" else "a fold's rest")
    _refuse_one_class(
        classes, np.concatenate([test for _, test in parts]), "test" if options.by == "split" else "all folds"
    )
    return parts


def _refuse_one_class(classes: Classes, chosen: Ints, where: str) -> None:
    counts = int(classes.positive[chosen].sum()), int((~classes.positive[chosen]).sum())
    if min(counts) < 2:
        told = ", ".join(f"{count:,} {name}" for count, name in zip(counts, classes.names, strict=True))
        raise OptionError(
            f"{where} has {told}, and 2 of each class are needed; give more regions there, or another --by (split, "
            "contig, block)"
        )


def _scores(features: Features, positive: NDArray[np.bool_], blocks: Ints, parts: list[tuple[Ints, Ints]]) -> Floats:
    """Log-odds of the tested examples (n,), those of each fold over their spread where it was fitted."""
    found = np.full(len(features), np.nan)
    for fit, test in parts:
        fitted = _fit(features[fit], positive[fit], blocks[fit])
        inside = fitted.decision_function(features[fit])
        spread = float(inside.std()) or 1.0
        found[test] = (fitted.decision_function(features[test]) - inside.mean()) / spread
    return found


def _fit(features: Features, positive: NDArray[np.bool_], blocks: Ints) -> Any:
    """The classifier whose penalty is best on every fourth block of what it may see, fitted on all of that."""
    _, number = np.unique(blocks, return_inverse=True)
    aside = number % 4 == 3
    best = PENALTIES[len(PENALTIES) // 2]
    if min(len(np.unique(positive[aside])), len(np.unique(positive[~aside]))) == 2:
        losses = [
            _loss(_classifier(penalty, features[~aside], positive[~aside]), features[aside], positive[aside])
            for penalty in PENALTIES
        ]
        best = PENALTIES[int(np.argmin(losses))]
    return _classifier(best, features, positive)


def _classifier(penalty: float, features: Features, positive: NDArray[np.bool_]) -> Any:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a penalty that is hard to fit loses, or is close enough
        made = make_pipeline(StandardScaler(), LogisticRegression(C=penalty, max_iter=500))
        return made.fit(features.astype(np.float64), positive)


def _loss(fitted: Any, features: Features, positive: NDArray[np.bool_]) -> float:
    """Mean nats of the true class."""
    odds = fitted.decision_function(features.astype(np.float64))
    return float(np.logaddexp(0, np.where(positive, -odds, odds)).mean())


def _judge(
    scores: dict[str, Floats], arms: list[str], positive: NDArray[np.bool_], blocks: Ints, options: LinearOptions
) -> dict[str, dict[Any, Result]]:
    """Of each measure: the value and interval of each set of features, and of differences, in the same resamples."""
    found: dict[str, dict[Any, Result]] = {}
    for measure, rank in MEASURES.items():
        whole = {name: float(rank(mine, positive, np.ones((1, len(mine))))[0]) for name, mine in scores.items()}
        drawn: dict[str, list[Floats]] = {name: [] for name in scores}
        for weights in resample_weights(blocks, options.resamples, options.seed):
            for name, mine in scores.items():
                drawn[name].append(rank(mine, positive, weights))
        each = {name: np.concatenate(parts) for name, parts in drawn.items()}
        found[measure] = {name: _estimate(whole[name], each[name], blocks) for name in scores}
        for left, right in _pairs(arms):
            difference = each[left] - each[right]
            found[measure][left, right] = _estimate(whole[left] - whole[right], difference, blocks)
    return found


def _estimate(value: float, drawn: Floats, blocks: Ints) -> Result:
    """A value with its percentile interval; None where blocks are too few to draw from."""
    known = drawn[np.isfinite(drawn)]
    if len(np.unique(blocks)) < 2 or not len(known):
        return {"value": value, "interval": None}
    low, high = np.quantile(known, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return {"value": value, "interval": [float(low), float(high)]}
