"""What stands in the way of comparing the runs of one report; each warning belongs beside the number it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dnagoat.reporting.results import Results, RunResults


@dataclass(frozen=True)
class Warnings:
    """Short words beside a number, by (run key, what); and whole sentences for the top of the page."""

    beside: dict[tuple[str, str], str]
    sentences: list[str]

    def of(self, run: RunResults, what: str) -> str:
        return self.beside.get((run.key, what), "")


@dataclass(frozen=True)
class Concern:
    """A property that comparable runs share; `beside` names the number that it touches."""

    beside: str
    short: str
    sentence: str
    of: Callable[[RunResults], Any]


def _schedule(run: RunResults) -> Any:
    train = run.config.train
    return train.lr, train.schedule, train.warmup


def _scored(run: RunResults) -> Any:
    test = run.nll("test")
    return (test["dataset_hash"], test["count"], test.get("windows")) if test else None


CONCERNS = (
    Concern("test", "other dataset", "Runs were trained on different datasets", lambda run: run.config.dataset_hash),
    Concern("test", "other scored bases", "Test numbers are not over the same bases", _scored),
    Concern(
        "test",
        "N is scored",
        "Some runs score N as a fifth symbol (the authors' protocol), which lowers NLL",
        lambda run: run.config.train.score_n,
    ),
    Concern("test", "other context", "Models see contexts of different length", lambda run: run.config.model.context),
    Concern("bases", "other amount", "Models have read different numbers of bases", lambda run: run.last("bases")),
    Concern("bases", "other schedule", "The learning rate or its schedule differs", _schedule),
    Concern(
        "speed", "other precision", "Runs computed in different precisions", lambda run: run.config.train.precision
    ),
    Concern("speed", "other device", "Runs were trained on different devices", lambda run: run.summary.get("device")),
)


def compared(results: Results) -> Warnings:
    """Marks the runs that differ from the majority in what comparable runs share, and what each run warns of itself."""
    beside: dict[tuple[str, str], list[str]] = {}
    sentences: list[str] = []
    for concern in CONCERNS:
        values = {run.key: repr(concern.of(run)) for run in results.runs if concern.of(run) is not None}
        if len(set(values.values())) < 2:
            continue
        usual = Counter(values.values()).most_common(1)[0][0]
        odd = [path for path, value in values.items() if value != usual]
        for path in odd:
            beside.setdefault((path, concern.beside), []).append(concern.short)
        sentences.append(f"{concern.sentence}; compare with care.")
    for run in results.runs:
        for text in (run.nll("test") or {}).get("warnings", []):
            beside.setdefault((run.key, "test"), []).append(text)
    return Warnings({place: "; ".join(texts) for place, texts in beside.items()}, sentences)
