"""What stands in the way of comparing the runs of one report; each warning belongs beside the number it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnagoat.evaluation.scoring.intervals import FEWEST_BLOCKS, few_blocks
from dnagoat.reporting.numbers import listed
from dnagoat.reporting.sources import Results, RunResults
from dnagoat.training.step.schedule import apply_recipe

SPLITS = ("test", "val")
NLL = (*SPLITS, "strata", "lengths")  # numbers that are a likelihood
MACHINE = ("speed", "memory")


@dataclass(frozen=True)
class Warnings:
    """Short words beside a number, by (run key, what); and for each of them the sentence that a reader finds once."""

    beside: dict[tuple[str, str], tuple[str, ...]]
    sentences: dict[str, str]
    remarks: Sequence[str] = ()  # those of them that stand in the way of the whole comparison

    def of(self, run: RunResults, what: str) -> tuple[str, ...]:
        return self.beside.get((run.key, what), ())

    def among(self, runs: Sequence[RunResults], what: str) -> tuple[str, ...]:
        """What stands in the way of comparing these runs in a figure, each once."""
        return tuple(dict.fromkeys(text for run in runs for text in self.of(run, what)))


def gc_warnings(run: RunResults, warnings: Warnings) -> tuple[str, ...]:
    """What its generated DNA warns of itself, then what stands in the way of comparing its GC %."""
    return (*run.measures.get("generation", {}).get("warnings", ()), *warnings.of(run, "generation"))


@dataclass(frozen=True)
class Concern:
    """A property that comparable runs share; `beside` names the numbers that it touches.

    Values are alike where they are equal, and numbers where they differ by at most the share `tolerance`. It is none
    `unless_tuned` where a comparison gave each arm the best of the same choices.
    """

    beside: tuple[str, ...]
    short: str
    sentence: str
    of: Callable[[RunResults], Any]  # None: not known, and so no concern
    tolerance: float = 0.0
    unless_tuned: bool = False

    def alike(self, value: Any, usual: Any) -> bool:
        return bool(abs(value - usual) <= self.tolerance * usual if self.tolerance else value == usual)


def same_bases(runs: Sequence[RunResults], split: str = "test", measure: str = "nll") -> bool:
    """Whether a measure of all of these runs is over the same bases of a split: the same dataset, count and pieces.

    Only then do they share their baselines. Runs without the result are passed over.
    """
    known = [bases for run in runs if (bases := _bases(run, f"{measure}-{split}")) is not None]
    return len({repr(bases) for bases in known}) < 2


def same_prompts(runs: Sequence[RunResults]) -> bool:
    """Whether all of these runs continued the same prompts, and so share the true continuations and the nulls."""
    found = [run.measures["generation"] for run in runs if "generation" in run.measures]
    return len({repr((each["dataset_hash"], each["settings"])) for each in found}) < 2


def _bases(run: RunResults, stem: str) -> Any:
    found = run.measures.get(stem)
    return (found["dataset_hash"], found.get("count"), found.get("windows"), found.get("pieces")) if found else None


def _of_nll(split: str) -> list[Concern]:
    """What decides an NLL besides the model: which bases, with how much context, by which checkpoint."""

    def told(name: str) -> Callable[[RunResults], Any]:
        return lambda run: (run.nll(split) or {}).get(name)

    def checkpoint(run: RunResults) -> Any:
        return (told("checkpoint")(run) or {}).get("which")

    def reading(run: RunResults) -> Any:
        return (told("context")(run), told("stride")(run)) if told("context")(run) else None

    said = {"test": "Test", "val": "Validation"}[split]
    return [
        Concern(
            (split,),
            "other scored bases",
            f"{said} numbers are not over the same bases",
            lambda run: _bases(run, f"nll-{split}"),
        ),
        Concern((split,), "other checkpoint", f"{said} numbers are of different checkpoints (best, last)", checkpoint),
        Concern(
            (split,), "other context or stride", f"{said} bases were scored with other contexts or strides", reading
        ),
    ]


def settings_of(measure: str, stem: str, said: str) -> Concern:
    """That a measure was asked the same of all runs."""
    return Concern(
        (measure,),
        "other settings",
        f"{said} was measured with different settings",
        lambda run: run.measures.get(stem, {}).get("settings"),
    )


def bases_of(measure: str, stem: str, said: str) -> Concern:
    """That a measure is over the same bases for all runs."""
    return Concern(
        (measure,), "other scored bases", f"{said} is not over the same bases", lambda run: _bases(run, stem)
    )


def _size(run: RunResults) -> Any:
    return run.config.model.width, run.config.model.layers


def _rate(run: RunResults) -> Any:
    return apply_recipe(run.config.train).lr


def _schedule(run: RunResults) -> Any:
    train = apply_recipe(run.config.train)
    return train.schedule, train.warmup


def _augmentation(run: RunResults) -> Any:
    return run.config.train.reverse_complement, run.config.train.jitter


def _subnormals(run: RunResults) -> Any:
    """What became of subnormal numbers on a CPU; runs that do not say so are from when they were kept."""
    return run.summary.get("subnormals", "kept") if run.summary.get("device") == "cpu" else None


CONCERNS = (
    Concern(NLL, "other dataset", "Runs were trained on different datasets", lambda run: run.config.dataset_hash),
    *_of_nll("test"),
    *_of_nll("val"),
    Concern(
        NLL,
        "N is scored",
        "Some runs score N as a fifth symbol (the authors' protocol), which lowers NLL",
        lambda run: run.config.train.score_n,
    ),
    Concern(
        (*NLL, *MACHINE),
        "other context",
        "Models see contexts of different length",
        lambda run: run.config.model.context,
    ),
    Concern(
        (*NLL, "bases"),
        "other start",
        "Some runs start from trained weights",
        lambda run: run.config.origin.sha256 if run.config.origin else "its seed",
    ),
    Concern((*NLL, *MACHINE), "other size", "Models differ in width or layers", _size),
    Concern(
        (*NLL, *MACHINE, "parameters"),
        "other number of weights",
        "Models differ by more than 10 % in their number of weights",
        lambda run: run.parameters,
        tolerance=0.1,
    ),
    Concern(NLL, "other augmentation", "Reverse complements or jitter in training differ", _augmentation),
    Concern(("bases",), "other amount", "Models have read different numbers of bases", lambda run: run.last("bases")),
    Concern(
        (*NLL, "bases", *MACHINE),
        "other optimizer",
        "Runs were trained with different optimizers (AdamW, Muon), so that their arms differ in more than the model",
        lambda run: run.config.train.optimizer,
    ),
    Concern(("bases",), "other learning rate", "The learning rate differs", _rate, unless_tuned=True),
    Concern(("bases",), "other schedule", "The schedule of the learning rate differs", _schedule),
    Concern(
        ("bases", *MACHINE),
        "other batch size",
        "Training steps are of different batch sizes",
        lambda run: run.config.train.batch_size,
    ),
    Concern(
        MACHINE, "other precision", "Runs computed in different precisions", lambda run: run.config.train.precision
    ),
    Concern(
        ("speed",),
        "subnormal numbers treated otherwise",
        "Some runs flushed subnormal numbers and others computed with them, which is slow on many CPUs",
        _subnormals,
    ),
    Concern(MACHINE, "other device", "Runs were trained on different devices", lambda run: run.summary.get("device")),
)


def find_warnings(results: Results, concerns: Iterable[Concern], files: Mapping[str, str]) -> Warnings:
    """Marks the runs that differ from the majority in what comparable runs share, and what each run warns of itself.

    `files` names, for each number beside the test NLL, the stem of the result that it comes from: of a run that trained
    on, some may be older than others.
    """
    beside: dict[tuple[str, str], list[str]] = {}
    said: dict[str, list[str]] = {}
    arms = {run.key: run.arm for run in results.runs}
    compared = results.comparison["arms"] if results.comparison else []
    choices = {repr([each["lr"] for each in arm.get("tried", [])]) for arm in compared}
    tuned = len(choices) == 1 and all(arm.get("tried") for arm in compared)
    for concern in concerns:
        if concern.unless_tuned and tuned:
            continue
        values = {run.key: value for run in results.runs if (value := concern.of(run)) is not None}
        odd = _odd(values, concern)
        for place in ((path, number) for path in odd for number in concern.beside):
            beside.setdefault(place, []).append(concern.short)
        if odd:
            named = listed(list(dict.fromkeys(arms[path] for path in odd)))
            said.setdefault(concern.short, []).append(f"{concern.sentence}; compare {named} with care.")
    own: dict[str, list[str]] = {}
    for run in results.runs:
        for number, text in _of_itself(run, files):
            beside.setdefault((run.key, number), []).append(text)
            own.setdefault(text, []).append(run.arm)
    sentences = {short: " ".join(texts) for short, texts in said.items()}
    remarks = list(sentences.values())
    sentences |= {text: owned(text, names, results.arms) for text, names in own.items()}
    return Warnings({place: tuple(texts) for place, texts in beside.items()}, sentences, remarks)


def owned(text: str, arms: Sequence[str], every: Collection[str]) -> str:
    """A warning as a sentence, with the arms that it concerns where it is not all."""
    named = list(dict.fromkeys(arms))
    return f"{text}." if len(named) == len(every) else f"{listed(named)}: {text}."


def _of_itself(run: RunResults, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a run's results warn of, by the number: their own words, few blocks, weights of another time."""
    test, val = run.nll("test") or {}, run.nll("val") or {}
    yield from (("test", text) for text in test.get("warnings", []))
    # That validation chose the checkpoint is said of all models at once, below the table.
    yield from (("val", text) for text in few_blocks(val.get("blocks", FEWEST_BLOCKS), val.get("block_bases")))
    for number, stem in files.items():
        weights = {each["checkpoint"]["sha256"] for each in (test, run.measures.get(stem)) if each}
        if len(weights) == 2:
            yield number, "of another checkpoint than its test NLL"


def _odd(values: dict[str, Any], concern: Concern) -> list[str]:
    """The runs whose value is not like the most common one; of equally common ones the first counts."""
    if not values:
        return []
    common = Counter(map(repr, values.values())).most_common(1)[0][0]
    usual = next(value for value in values.values() if repr(value) == common)
    return [path for path, value in values.items() if not concern.alike(value, usual)]
