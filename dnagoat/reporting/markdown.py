"""A report as Markdown: the page's story in its order, with links to the figures beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.notes import Notes
from dnagoat.reporting.section import Part
from dnagoat.reporting.table import Table, marked

if TYPE_CHECKING:
    from dnagoat.reporting.document import Report


def in_markdown(report: Report) -> str:
    notes = report.notes()
    first = list(_first_screen(report, notes))
    parts = [text for part in report.parts for text in _part(part, notes)]
    methods = ["## Methods", *report.methods.paragraphs, notes.numbered(report.methods.settings).markdown()]
    commands = ["Commands that repeat this:", "```sh\n" + "\n".join(report.methods.commands) + "\n```"]
    listed = [f"{number}. {text}" for number, text in enumerate(notes.said, 1)]
    noted = ["## Notes", "\n".join(listed)] if listed else []
    return "\n\n".join([*first, *noted, *parts, *methods, *commands]) + "\n"


def _first_screen(report: Report, notes: Notes) -> Iterator[str]:
    yield f"# {report.title}"
    yield report.subtitle
    yield f"**{marked(report.verdict.headline, notes.remarks)}**"
    if report.hero:
        yield _figure(report.hero, notes)
    if report.matrix:
        yield _table(report.matrix, notes)
    shown = [(card, marked(f"{card.text} {card.unit}".strip(), notes.number(card.warnings))) for card in report.cards]
    if shown:
        yield "\n".join(f"- {card.head}: **{text}** ({card.under})" for card, text in shown)
    yield report.verdict.sentence


def _part(part: Part, notes: Notes) -> Iterator[str]:
    yield f"## {part.question}"
    yield from (_figure(figure, notes) for figure in part.figures)
    yield from (_table(table, notes) for table in (*part.tables, *part.details))


def _table(table: Table, notes: Notes) -> str:
    numbered = notes.numbered(table)
    return f"### {marked(numbered.title, numbered.marks)}\n\n{numbered.markdown()}"


def _figure(figure: Figure, notes: Notes) -> str:
    title = marked(figure.title, notes.number(figure.warnings))
    return (
        f"### {title}\n\n![{figure.alt}](figures/{figure.name}.svg)\n\n{figure.reading}\n\n"
        f"What it cannot show: {figure.limits}"
    )
