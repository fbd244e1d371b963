"""What a report holds: its sections in the order of their questions, and what they need of the runs."""

from __future__ import annotations

from collections.abc import Iterator

from dnagoat.reporting.comparability import CONCERNS, Warnings, find_warnings
from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.section import Need, Question, Section, under_own_name
from dnagoat.reporting.sections.comparison import COMPARISON, ORIGINS, REACH
from dnagoat.reporting.sections.copying import COPYING
from dnagoat.reporting.sections.cost import COST
from dnagoat.reporting.sections.generation import GENERATION
from dnagoat.reporting.sections.inspect import INSPECT
from dnagoat.reporting.sections.lead import LEAD
from dnagoat.reporting.sections.leaks import LEAKS
from dnagoat.reporting.sections.lengths import LENGTHS
from dnagoat.reporting.sections.likelihood import LIKELIHOOD
from dnagoat.reporting.sections.memory import MEMORY
from dnagoat.reporting.sections.prior import PRIOR
from dnagoat.reporting.sections.probes.kinds import figure_of, tables
from dnagoat.reporting.sections.protocol import PROTOCOL
from dnagoat.reporting.sections.strands import STRANDS
from dnagoat.reporting.sections.strata import STRATA
from dnagoat.reporting.sections.training import TRAINING
from dnagoat.reporting.sources import Results
from dnagoat.reporting.table import Table


def _probe_tables(results: Results, warnings: Warnings) -> Iterator[Table]:
    for probe, folder in results.named_probes():
        yield from (under_own_name(table, _slug(folder), folder) for table in tables(probe))


def _probe_figures(results: Results, warnings: Warnings) -> Iterator[Figure]:
    for probe, folder in results.named_probes():
        yield under_own_name(figure_of(probe), _slug(folder), folder)


def _slug(folder: str) -> str:
    return folder.replace("/", "-")


PROBES = Section(Question.BETTER, tables=_probe_tables, figures=_probe_figures)

SECTIONS = (
    PROBES,
    COMPARISON,
    LIKELIHOOD,
    ORIGINS,
    STRATA,
    STRANDS,
    TRAINING,
    LEAD,
    REACH,
    LENGTHS,
    GENERATION,
    PRIOR,
    MEMORY,
    COPYING,
    INSPECT,
    COST,
    LEAKS,
    PROTOCOL,
)


def needed() -> list[Need]:
    """What every run of a report is measured for, in the order in which it is computed."""
    return [need for section in SECTIONS for need in section.needs]


def may_be_shown() -> list[Need]:
    """What a report shows too, where somebody asked `evaluate` or `inspect` for it."""
    return [need for section in SECTIONS for need in section.may_show]


def section_of(measure: str) -> Section:
    """The section that shows a measure."""
    shown = {need.measure: section for section in SECTIONS for need in (*section.needs, *section.may_show)}
    return shown[measure]


def compare_runs(results: Results) -> Warnings:
    """What stands in the way of comparing these runs, in the eyes of all sections."""
    concerns = [*CONCERNS, *(concern for section in SECTIONS for concern in section.concerns)]
    files = {need.beside: need.stem for need in (*needed(), *may_be_shown()) if need.beside not in ("", "test")}
    return find_warnings(results, concerns, files)
