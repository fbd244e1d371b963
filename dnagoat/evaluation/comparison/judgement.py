"""What a comparison of arms says: NLL of every arm, the paired difference to the reference, and the verdict.

comparison.json    beside the run folders, which are ordinary ones
"""

# S seeds, n pieces, M scored bases

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dnagoat
from dnagoat.errors import RunError
from dnagoat.evaluation.comparison.arms import setting_of
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.scoring.intervals import BLOCK_BASES, LEVEL, RESAMPLES, block_bootstrap, listed
from dnagoat.evaluation.scoring.likelihood import Scores, piece_sums
from dnagoat.evaluation.scoring.pieces import blocks_of
from dnagoat.evaluation.scoring.scored import scores_of
from dnagoat.evaluation.scoring.verdict_rule import Judgement, judge, judged_split
from dnagoat.files import read_json
from dnagoat.genome.alphabet import MASKED
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.windows import HELD_OUT, Split
from dnagoat.progress import Progress, relabelled, silent
from dnagoat.training.kept.learning_curve import bases_to_reach
from dnagoat.training.kept.metrics import largest
from dnagoat.training.kept.run import SUMMARY, open_run

STEADY = 1.25  # largest ratio of the speeds of one arm's seeds with which speeds are compared
Result = dict[str, Any]
Sums = NDArray[np.float64]


@dataclass(frozen=True)
class Arm:
    """What an arm is called, and its finished runs, one a seed, in the order of the seeds.

    `tried` are the learning rates of which `lr` was best, and the lowest validation NLL of the first seed at each.
    """

    name: str
    runs: list[Path]
    lr: float
    tried: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ArmScores:
    """One arm on one split: nats (S, n) and bases (n,) of each piece, in all and in each stratum."""

    sums: dict[str, Sums]
    counts: dict[str, Sums]
    blocks: NDArray[np.int64]


def judge_arms(
    arms: Sequence[Arm],
    dataset: Dataset,
    *,
    windows: int | None,
    reach: Sequence[float] = (),
    block: int = BLOCK_BASES,
    device: str = "cpu",
    progress: Progress = silent,
) -> Result:
    """Scores the best checkpoint of every run on `windows` spread windows of each split (None: all), and judges arm by
    arm against the first. Scores are kept in the run folders.

    `reach` are validation NLLs, in nats per base: the result says how many bases each run took to come down to them.
    """
    options = MeasureOptions(windows=windows, device=device, block=block)
    splits = [split for split in HELD_OUT if len(dataset.starts(split))]
    scored = {
        (arm.name, split): _scored(arm, dataset, options.but(split=split), progress) for split in splits for arm in arms
    }
    progress("resampling blocks", 0, 0)
    return {
        **judge_scores(arms, scored, reach),
        "dataset_hash": dataset.content_hash,
        "block_bases": block,
        "windows": windows,
    }


def judge_scores(
    arms: Sequence[Arm], scored: Mapping[tuple[str, Split], ArmScores], reach: Sequence[float] = ()
) -> Result:
    """Judges arm by arm against the first what was scored of each on each split."""
    splits = [split for split in HELD_OUT if (arms[0].name, split) in scored]
    rows = [
        _row(arm, arms[0], {split: (scored[arm.name, split], scored[arms[0].name, split]) for split in splits}, reach)
        for arm in arms
    ]
    return {
        "format": 1,
        "measure": "comparison",
        "unit": "nats per base",
        "reference": arms[0].name,
        "seeds": [open_run(run).config.train.seed for run in arms[0].runs],
        "tool_version": dnagoat.__version__,
        "level": LEVEL,
        "resamples": RESAMPLES,
        "arms": rows,
        "pairs": _pairs(arms[1:], scored, judged_split(rows)),
        "verdict": sentence(rows),
    }


def _pairs(others: Sequence[Arm], scored: Mapping[tuple[str, Split], ArmScores], split: Split) -> list[Result]:
    """How the arms beside the reference differ from each other, by the rule by which they differ from it."""
    return [
        {
            "arm": arm.name,
            "against": other.name,
            **_difference(_judge(scored[arm.name, split], scored[other.name, split])),
        }
        for arm, other in combinations(others, 2)
    ]


def _judge(own: ArmScores, other: ArmScores, stratum: str = "all") -> Judgement:
    return judge(own.sums[stratum], other.sums[stratum], own.counts[stratum], own.blocks)


def _scored(arm: Arm, dataset: Dataset, options: MeasureOptions, progress: Progress) -> ArmScores:
    every = []
    for path in arm.runs:
        label = f"scoring {path.name} on {options.split}"
        every.append(scores_of(open_run(path), dataset, options, relabelled(progress, label)))
    strata = _strata(dataset, every[0])
    return ArmScores(
        sums={
            name: np.stack([_within(scores, inside, scores.losses) for scores in every])
            for name, inside in strata.items()
        },
        counts={name: _within(every[0], inside, np.ones_like(every[0].losses)) for name, inside in strata.items()},
        blocks=blocks_of(dataset, every[0].pieces, options.block),
    )


def _strata(dataset: Dataset, scores: Scores) -> dict[str, NDArray[np.bool_]]:
    """Which scored bases belong to each stratum, (M,); repeats only where the source marks them.

    `early` and `late` are the first and the last quarter of a window: what a model gains late, it gains from context.
    """
    masked = (dataset.tokens[scores.pieces.positions()] & MASKED) != 0
    place = scores.pieces.contexts() / dataset.window
    strata = {"all": np.ones_like(masked)} | ({"repeat": masked, "unique": ~masked} if masked.any() else {})
    return strata | {"early": place < 0.25, "late": place >= 0.75}


def _within(scores: Scores, inside: NDArray[np.bool_], values: NDArray[np.float32]) -> Sums:
    """Sums over each piece, (n,), of what is known and inside."""
    return piece_sums(scores.pieces, np.where(inside & ~np.isnan(scores.losses), values, np.float32(0)))


def _row(arm: Arm, reference: Arm, splits: dict[Split, tuple[ArmScores, ArmScores]], reach: Sequence[float]) -> Result:
    taken, base = [_taken(path) for path in arm.runs], [_taken(path) for path in reference.runs]
    config = open_run(arm.runs[0]).config
    return {
        "name": arm.name,
        "setting": setting_of(config),
        "scheme": config.model.position.name,
        "runs": [str(path) for path in arm.runs],
        "lr": arm.lr,
        "tried": [{"lr": rate, "val_nll": nll} for rate, nll in arm.tried.items()],
        "parameters": taken[0]["parameters"],
        "tokens_per_second": median(_speeds(taken)),
        "speed_ratio": speed_ratio(_speeds(taken), _speeds(base)),
        **{name: largest(taken, name) for name in ("cuda_allocated_peak", "cuda_reserved_peak", "resident_peak")},
        "reach": _reach(arm, reference, reach),
        "splits": {
            split: {stratum: _numbers(own, other, stratum, arm is reference) for stratum in own.sums}
            for split, (own, other) in splits.items()
        },
    }


def _reach(arm: Arm, reference: Arm, targets: Sequence[float]) -> list[Result]:
    """Bases that each seed took to be as good as the reference's same seed at its best, and to reach each target."""
    ends = [best_validation(path) for path in reference.runs]
    rows = [open_run(path).metrics() for path in arm.runs]
    goals: list[tuple[float | None, Sequence[float]]] = [(None, ends)]
    goals += [(target, [target] * len(rows)) for target in targets]
    return [
        {"nll": target, "by_seed": [bases_to_reach(*pair) for pair in zip(rows, nlls, strict=True)]}
        for target, nlls in goals
    ]


def _speeds(taken: Sequence[Result]) -> list[float]:
    return [one["tokens_per_second"] for one in taken]


def speed_ratio(own: Sequence[float], base: Sequence[float]) -> float | None:
    """Median over median; None where an arm's own seeds differ by more than `STEADY`: the machine did other work."""
    if max(max(speeds) / min(speeds) for speeds in (own, base)) > STEADY:
        return None
    return median(own) / median(base)


def _numbers(own: ArmScores, other: ArmScores, stratum: str, is_reference: bool) -> Result:
    sums, counts = own.sums[stratum], own.counts[stratum]
    value = float(sums.mean(axis=0).sum() / counts.sum())
    judged = None if is_reference else _judge(own, other, stratum)
    return {
        "value": value,
        "interval": listed(block_bootstrap(sums.mean(axis=0), counts, own.blocks)),
        "by_seed": (sums.sum(axis=1) / counts.sum()).tolist(),
        "count": int(counts.sum()),
        "blocks": len(np.unique(own.blocks)),
        "difference": None if judged is None else _difference(judged),
    }


def _difference(judged: Judgement) -> Result:
    return {
        "value": judged.value,
        "by_seed": judged.by_seed,
        "over_seeds": listed(judged.over_seeds),
        "over_blocks": listed(judged.over_blocks),
        "verdict": judged.call,
        "models_differ": judged.models_differ,
        "warnings": judged.warnings,
    }


def _taken(path: Path) -> Result:
    """What a run took; a `RunError` where it has not ended."""
    file = path / SUMMARY
    if not file.exists():
        raise RunError(f"{path} has not been trained to its end; continue the comparison with the same command")
    result: Result = read_json(file)
    return result


def sentence(rows: Sequence[Result]) -> str:
    """The verdicts on the test split (validation where there is none), each arm against the first."""
    reference, *others = rows
    split = judged_split(rows)
    said = []
    for row in others:
        found = row["splits"][split]["all"]["difference"]
        low, high = found["over_seeds"] or (None, None)
        seeds = (
            f", {100 * LEVEL:.0f} % over {len(found['by_seed'])} seeds {low:+.4f} to {high:+.4f}"
            if low is not None
            else ""
        )
        said.append(
            f"{row['name']} is {_called(found, reference['name'])} ({found['value']:+.4f} nats per base{seeds})"
        )
    name = {"test": "the test split", "val": "validation"}[split]
    return f"On {name}: {'; '.join(said)}." if said else f"On {name} there is only {reference['name']}."


def _called(found: Result, reference: str) -> str:
    return {
        "better": f"better than {reference}",
        "worse": f"worse than {reference}",
        "not distinguishable": f"not distinguishable from {reference}",
        "too few seeds": f"without a verdict against {reference}: too few seeds",
    }[found["verdict"]]


def best_validation(path: Path) -> float:
    """The best validation NLL of a finished run: what learning rates are chosen by."""
    return float(_taken(path)["best_val_nll"])
