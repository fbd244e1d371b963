"""The measure `generation`: does what a model writes look like the true continuation, more than the nulls do?"""

# N prompts, P bases of a prompt, K samples, G bases of a continuation, W sliding windows

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dnagoat.counts.markov import count
from dnagoat.errors import WindowError
from dnagoat.evaluation.measure import Measure, MeasureOptions, Result
from dnagoat.evaluation.scoring.intervals import LEVEL, RESAMPLES
from dnagoat.evaluation.scoring.ladder import training
from dnagoat.evaluation.scoring.pieces import stretches
from dnagoat.evaluation.written.composition import divergence, gc_fraction, kmer_counts, profile, sliding_gc
from dnagoat.evaluation.written.memorised import longest_matches
from dnagoat.evaluation.written.nulls import ORDER, another_locus, markov_continuations
from dnagoat.evaluation.written.trajectory import Floats, TrajectoryOptions, correlations
from dnagoat.generation.continuation import generate
from dnagoat.generation.prompts import random_loci
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.genome.alphabet import Codes
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, counter, silent
from dnagoat.training.kept.run import Run
from dnagoat.wording import counted

KMERS = range(1, 9)
SPECTRUM = 5  # the k whose words a scatter shows: 1,024 points
LOCI_SHOWN = 6
TOGETHER = 64  # sequences that are written at once, fewer where memory is short
MARKOV = "markov"  # its order is a number of the result
FEWEST_PROMPTS = 30


@dataclass(frozen=True)
class Material:
    """What is compared: prompts (N, P), true continuations (N, G), and what model and chain wrote, each (N, K, G).

    `spare` (F, N, G) are true continuations of other loci of the split, F sets of the size of the truth.
    """

    starts: list[int]
    prompts: Codes
    true: Codes
    written: Codes
    markov: Codes
    spare: Codes
    log_probability: float


def measure(run: Run, options: MeasureOptions, progress: Progress = silent) -> Result:
    """GC% trajectory with nulls, k-mer divergence with its floor, composition, longest match to the training split."""
    dataset = options.dataset_of(run)
    material = draw_material(run.model(options.which, options.device), dataset, options, progress)
    progress("comparing with the training split", 0, 0)
    return {
        "level": LEVEL,
        "resamples": RESAMPLES,
        "count": len(material.true),
        "samples": options.trajectory.samples,
        "markov_order": ORDER,
        "log_probability": material.log_probability,
        **trajectories(dataset, material, options.trajectory, options.seed),
        "kmers": kmer_divergences(material),
        "spectrum": spectrum(material),
        "composition": {
            "true": profile(material.true),
            "generated": profile(_rows(material.written)),
            MARKOV: profile(_rows(material.markov)),
        },
        "longest_match": memorisation(dataset, material),
        "warnings": _warnings(material, options),
    }


def draw_material(model: DnaLM, dataset: Dataset, options: MeasureOptions, progress: Progress) -> Material:
    """Draws the loci and lets the model and the chain continue them."""
    asked = options.trajectory
    span = asked.prompt_length + asked.length
    loci = random_loci(dataset, options.split, asked.prompts * (1 + asked.samples), span, options.seed)
    if len(loci) < 2:
        raise WindowError(
            f"the {options.split} split of {dataset.path} has {counted(len(loci), 'stretch')} of {span:,} known bases, "
            "too few for prompts with their continuations; ask for shorter ones"
        )
    starts, others = sorted(loci[: asked.prompts]), loci[asked.prompts :]
    prompts, true = _read(dataset, starts, asked)
    sets = len(others) // len(starts)
    spare = _read(dataset, others[: sets * len(starts)], asked)[1].reshape(sets, len(starts), asked.length)
    bases = sum(end - start for start, end in stretches(dataset, "train"))
    chain = count(training(dataset), ORDER, counter(progress, "counting training bases", bases))
    markov = markov_continuations(chain, prompts, asked.length, asked.samples, options.seed)
    written, log_probability = _continued(model, prompts, options, progress)
    return Material(starts, prompts, true, written, markov, spare, log_probability)


def _read(dataset: Dataset, starts: list[int], asked: TrajectoryOptions) -> tuple[Codes, Codes]:
    span = asked.prompt_length + asked.length
    both = np.array([dataset.codes(start, start + span) for start in starts], np.uint8).reshape(len(starts), span)
    return both[:, : asked.prompt_length], both[:, asked.prompt_length :]


def _continued(model: DnaLM, prompts: Codes, options: MeasureOptions, progress: Progress) -> tuple[Codes, float]:
    """What the model writes after each prompt, (N, K, G), and its mean log-probability in nats a base."""
    asked = options.trajectory
    sampling = SamplingOptions(temperature=asked.temperature, memory_strength=asked.memory_strength, seed=options.seed)
    written = np.empty((len(prompts), asked.samples, asked.length), np.uint8)
    total, sums = written.size, 0.0
    for made in generate(
        model,
        list(prompts),
        asked.length,
        sampling,
        samples=asked.samples,
        batch_size=options.batch_size or TOGETHER,
        progress=counter(progress, "generating bases", total),
    ):
        written[made.prompt, made.sample] = made.codes
        sums += float(made.log_probabilities.sum())
    return written, sums / total


def trajectories(dataset: Dataset, material: Material, asked: TrajectoryOptions, seed: int) -> Result:
    """Correlations of the model and of each null with the truth, and the curves and points that figures show."""

    def gc(codes: Codes) -> Floats:
        return sliding_gc(codes, asked.gc_window, asked.gc_stride)

    true, samples = gc(material.true), gc(material.written)
    generated = samples.mean(axis=1)
    nulls = {
        "another locus": gc(another_locus(material.true, material.spare)),
        MARKOV: gc(material.markov).mean(axis=1),
        "prompt GC": np.repeat(gc_fraction(material.prompts)[:, None], true.shape[1], axis=1),
    }
    curves = {"true": true, "generated": generated, **nulls}
    beside = {name: correlations(null, true, seed=seed) for name, null in nulls.items()}
    if not len(material.spare):
        # The same loci in another order have the same mean trajectory: that correlation says nothing.
        beside["another locus"]["averaged"] = {"r": None, "interval": None}
    return {
        "gc": {**correlations(generated, true, seed=seed), "nulls": beside},
        "positions": [asked.gc_window // 2 + asked.gc_stride * i for i in range(true.shape[1])],
        "trajectories": [
            {
                "locus": _locus(dataset, material.starts[i], asked),
                "prompt_gc": float(gc_fraction(material.prompts[i])),
                "curves": {name: _rounded(curve[i]) for name, curve in curves.items()},
                "samples": [_rounded(sample) for sample in samples[i]],
            }
            for i in np.linspace(0, len(true) - 1, min(LOCI_SHOWN, len(true))).astype(int)
        ],
        "mean_trajectory": {name: _rounded(curve.mean(axis=0)) for name, curve in curves.items()},
        "scatter": {"true": [_rounded(row) for row in true], "generated": [_rounded(row) for row in generated]},
    }


def _locus(dataset: Dataset, start: int, asked: TrajectoryOptions) -> dict[str, Any]:
    contig, place = dataset.locate(start + asked.prompt_length)
    return {"contig": contig.name, "start": place, "end": place + asked.length}


def kmer_divergences(material: Material) -> list[Result]:
    """Jensen-Shannon divergence (bits) from the true continuations, of sets of the size of the truth.

    `jsd` is the mean over the K samples of each prompt, `floor` that over real sets of other loci.
    """
    rows = []
    for k in KMERS:
        true = kmer_counts(material.true, k)
        rows.append(
            {
                "k": k,
                "jsd": _mean_divergence(np.moveaxis(material.written, 1, 0), true, k),
                "floor": _mean_divergence(material.spare, true, k),
                MARKOV: _mean_divergence(np.moveaxis(material.markov, 1, 0), true, k),
                "floor_sets": len(material.spare),
            }
        )
    return rows


def _mean_divergence(sets: Codes, true: np.ndarray[Any, np.dtype[np.int64]], k: int) -> float | None:
    values = [value for codes in sets if (value := divergence(kmer_counts(codes, k), true)) is not None]
    return float(np.mean(values)) if values else None


def spectrum(material: Material) -> Result:
    """Each word's share of the true continuations and of the generated ones, in the order of the alphabet."""

    def share(codes: Codes) -> list[float]:
        counts = kmer_counts(codes, SPECTRUM)
        return [round(float(c) / max(int(counts.sum()), 1), 8) for c in counts]

    return {"k": SPECTRUM, "true": share(material.true), "generated": share(_rows(material.written))}


def memorisation(dataset: Dataset, material: Material) -> Result:
    """Longest exact match (bases, either strand) of each sequence to the training split, beside that of real DNA."""
    sets = {"generated": _rows(material.written), "true": material.true, MARKOV: _rows(material.markov)}
    together = longest_matches(np.concatenate(list(sets.values())), training(dataset))
    edges = np.cumsum([len(codes) for codes in sets.values()])[:-1]
    return {
        name: {
            "longest": int(lengths.max()),
            "median": float(np.median(lengths)),
            "quantile_95": float(np.quantile(lengths, 0.95)),
            "sequences": len(lengths),
        }
        for name, lengths in zip(sets, np.split(together, edges), strict=True)
    }


def _warnings(material: Material, options: MeasureOptions) -> list[str]:
    said = []
    count, asked = len(material.true), options.trajectory.prompts
    if count < asked:
        said.append(
            f"the {options.split} split has loci for {counted(count, 'prompt')}, fewer than the {asked:,} asked for"
        )
    if count < FEWEST_PROMPTS:
        said.append(f"only {counted(count, 'prompt')}: intervals are too narrow below {FEWEST_PROMPTS}")
    if not len(material.spare):
        said.append("the split is too small for another real sample of this size: the k-mer divergence has no floor")
    return said


def _rows(codes: Codes) -> Codes:
    """(N, K, G) -> (N K, G)."""
    return codes.reshape(-1, codes.shape[-1])


def _rounded(values: Floats) -> list[float]:
    return [round(float(value), 5) for value in values]


MEASURE = Measure(
    "generation",
    "Does generated DNA look like the true continuation? GC% trajectory against three nulls, k-mers and more",
    unit="Pearson r",
    compute=measure,
    settings=("split", "seed", "trajectory"),
)
