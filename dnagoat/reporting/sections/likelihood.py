"""How well models predict: the scores of all models, perplexity and accuracy, and one result as `evaluate` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnagoat.reporting.cells import estimate, number, row_of, share
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.numbers import decimals, percent, whole
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sections.baselines import baselines, ladder
from dnagoat.reporting.sections.outcome import outcome
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

BEST = 5  # baselines of a first look
LADDER = (
    "order-k: Markov chain of the training split, each order mixed with the next lower one; mix of all orders: trusted "
    "by how each has done in the window so far; repeat copier: also copies what followed the last 20 bases before."
)


def perplexities(results: Results, warnings: Warnings) -> Table | None:
    """Perplexity and accuracy on both splits, which the first table has no room for."""
    splits = ("test", "val")
    made = [run for run in results.scored if any("perplexity" in (run.nll(split) or {}) for split in splits)]
    if not made:
        return None
    columns = [
        Column(f"{split}_{key}", f"{word} {head}", unit)
        for split, word in zip(splits, ("Test", "Validation"), strict=True)
        for key, head, unit in (
            ("perplexity", "perplexity", "of 4 bases"),
            ("accuracy", "accuracy", "likeliest base is right"),
            ("count", "scored bases", ""),
        )
    ]
    rows = [
        row_of(
            results, run, [cell for split in splits for cell in _scored(run.nll(split) or {}, warnings.of(run, split))]
        )
        for run in made
    ]
    note = "Perplexity is exp(NLL): 4 is a guess among four bases, 1 is certainty. A guess has an accuracy of 25 %."
    return Table("likelihood", "Perplexity and accuracy", "Model", columns, rows, [note])


def _scored(nll: Result, warnings: Sequence[str]) -> list[Cell]:
    perplexity, accuracy, count = (nll.get(key) for key in ("perplexity", "accuracy", "count"))
    numbers = [Cell(decimals(perplexity, 3), perplexity), Cell(percent(accuracy), accuracy)]
    return [*(cell.warned(warnings) for cell in numbers), Cell(whole(count), count)]


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """NLL of each split with what it is over, then the same bases under the tables of counts."""
    columns = [
        Column("nll", "NLL", "nats per base"),
        Column("bits", "NLL", "bits per base"),
        Column("accuracy", "Accuracy"),
        Column("count", "Scored bases"),
        Column("blocks", "Blocks"),
    ]
    rows = [Row(result["split"], _numbers(result)) for result in results]
    notes = [f"{result['split']}: {context_sentence(result)}" for result in results]
    yield Table("nll", "Negative log-likelihood", "Split", columns, rows, notes)
    for result in results:
        if result["baselines"]:
            yield _rungs(result)


def _numbers(result: Result) -> list[Cell]:
    return [
        estimate(result["value"], result["interval"]),
        number(result["bits"]),
        share(result["accuracy"]),
        Cell(whole(result["count"]), result["count"]),
        Cell(whole(result["blocks"]), result["blocks"]),
    ]


def context_sentence(result: Result) -> str:
    """How much a base has before it, and how many have less."""
    how = f"read {result['context']:,} at a time, {result['stride']:,} of them scored"
    said = f"a base has {result['mean_context']:,.1f} bases before it on average ({how})"
    short, least = result.get("short_context", 0), result["context"] - result["stride"]
    fewer = f"{counted(short, 'base')} ({short / result['count']:.2%}) {'has' if short == 1 else 'have'} fewer"
    return f"{said}; {fewer} than {least:,}" if short else said


def _rungs(result: Result) -> Table:
    """The best first; a terminal shows as many as matter."""
    columns = [Column("nll", "NLL", "nats per base"), Column("gain", "Gain of the model", "nats per base")]
    rows = [
        Row(
            rung["name"],
            [estimate(rung["value"], rung["interval"]), estimate(rung["gain"], rung["gain_interval"], sign=True)],
            muted=True,
        )
        for rung in sorted(result["baselines"], key=lambda rung: float(rung["value"]))
    ]
    split = result["split"]
    title = f"The same bases of {split} under tables of counts"
    return Table(f"baselines-{split}", title, "Baseline", columns, rows, [LADDER], few=BEST)


LIKELIHOOD = Section(
    Question.BETTER,
    needs=(Need("nll", "val", "nll-val", "val"), Need("nll", "test", "nll-test", "test")),
    tables=lambda results, warnings: [outcome(results, warnings)] if results.runs else [],
    figures=lambda results, warnings: [ladder(results, warnings)],
    details=lambda results, warnings: [perplexities(results, warnings), baselines(results)],
    of_results=of_results,
)
