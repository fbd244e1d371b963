"""What a run's prior has learned before it sees any content: where each head looks, and the sink u(j)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.reporting.cells import number
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sections.heads import Head, draw_priors, draw_sinks
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import looks
from dnagoat.reporting.table import Cell, Column, Row, Table


def log_prior(results: Results, run: RunResults) -> Figure | None:
    """The learned log-prior of one run, and where its training started."""
    heads = _heads(run)
    if not heads:
        return None
    name, title = f"prior-{run.slug}", f"Where each head of {run.arm} looks before it reads"
    return draw_priors(name, title, run.measures["prior"]["distances"], heads, looks(results.arms)[run.arm].colour)


def sink(results: Results, run: RunResults) -> Figure | None:
    """u(j) of every head of one run."""
    heads = _heads(run)
    if not any(head.sinks for head in heads):
        return None
    name, title = f"sink-{run.slug}", f"Which positions {run.arm} favours whoever asks"
    return draw_sinks(name, title, run.measures["prior"]["positions"], heads, looks(results.arms)[run.arm].colour)


def _heads(run: RunResults) -> list[Head]:
    """Every head of a run whose prior is learned; empty for other schemes, and where `inspect` shows it over "
    "training."""
    if run.measures.get("inspect", {}).get("checkpoints", [{}])[-1].get("curves"):
        return []
    if not SCHEMES[run.config.model.position.name].learned:
        return []
    return [
        Head(
            layer["layer"],
            head["head"],
            head.get("slope"),
            [curve for curve in (head.get("initial"), head["log_prior"]) if curve],
            [head["sink"]] if head.get("sink") else [],
        )
        for layer in run.measures.get("prior", {}).get("layers", [])
        for head in layer["heads"]
    ]


def figures(results: Results, warnings: Warnings) -> Iterator[Figure | None]:
    yield from (log_prior(results, run) for run in results.firsts)
    yield from (sink(results, run) for run in results.firsts)


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """A row a head: the distance that its prior likes best, its slope, and what it gives the first key."""
    columns = [
        Column("peak", "Prior is highest at", "bases"),
        Column("slope", "Slope", "nats per base"),
        Column("sink", "Sink, first key over last", "nats"),
    ]
    for result in results:
        rows = [
            Row(f"layer {layer['layer'] + 1}, head {head['head'] + 1}", _described(result, head))
            for layer in result["layers"]
            for head in layer["heads"]
        ]
        title = f"The log-prior of {result['position']} over {result['context']:,} bases"
        yield Table("prior", title, "Head", columns, rows)


def _described(result: Result, head: Result) -> list[Cell]:
    log_prior, sinks = head["log_prior"], head.get("sink")
    level = not log_prior or max(log_prior) == min(log_prior)
    peak = None if level else result["distances"][int(np.argmax(log_prior))]
    return [
        number(peak, 0),
        number(head.get("slope")),
        number(sinks[0] - sinks[-1] if sinks else None, 3),
    ]


PRIOR = Section(Question.LEARNED, needs=(Need("prior", "test", "prior"),), figures=figures, of_results=of_results)
