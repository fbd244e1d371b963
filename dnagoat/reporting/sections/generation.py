"""What models write: whether its GC % follows the true continuation, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnagoat.reporting.comparability import Warnings, settings_of
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sections import composition, trajectories
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Table


def figures(results: Results, warnings: Warnings) -> Iterator[Figure]:
    made = results.firsts_having("generation")
    if made:
        yield trajectories.correlation(results, made)
        yield trajectories.trajectories(results, made)
        yield trajectories.scatter(results, made)
        yield composition.kmers(results, made)


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    for result in results:
        yield trajectories.of_one(result)
        yield composition.of_one(result)


GENERATION = Section(
    Question.WRITES,
    needs=(Need("generation", "test", "generation", "generation"),),
    concerns=(settings_of("generation", "generation", "Generation"),),
    figures=figures,
    details=lambda results, warnings: [
        trajectories.by_way(results, warnings),
        composition.composition(results, warnings),
    ],
    of_results=of_results,
)
