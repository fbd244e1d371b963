"""The report as one HTML page: everything is inside it, nothing is fetched, and it needs no script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.notes import Notes
from dnagoat.reporting.section import Part
from dnagoat.reporting.style import every_ink, looks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dnagoat.reporting.document import Report


def page(report: Report) -> str:
    """The whole page. Notes are numbered as the page is read, and listed before the first question."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dnagoat.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    styles, notes = looks(report.results.arms), report.notes()
    arms = {arm: f"arm-{rank}" for rank, arm in enumerate(styles)}
    return environment.get_template("page.html").render(
        report=report,
        css=environment.get_template("page.css").render(inks=every_ink(), looks=styles),
        arms=arms,
        remarks=notes.remarks,
        hero=report.hero and _drawn(report.hero, notes, arms),
        pairs=report.matrix and notes.numbered(report.matrix),
        cards=[(card, notes.number(card.warnings)) for card in report.cards],
        parts=[_part(part, notes, arms) for part in report.parts],
        settings=notes.numbered(report.methods.settings),
        notes=notes.said,
        early=notes.early,
    )


def _part(part: Part, notes: Notes, arms: Mapping[str, str]) -> dict[str, Any]:
    return {
        "question": part.question,
        "id": part.question.name.lower(),
        "figures": [_drawn(figure, notes, arms) for figure in part.figures],
        "tables": [notes.numbered(table) for table in (*part.tables, *part.details)],
    }


def _drawn(figure: Figure, notes: Notes, arms: Mapping[str, str]) -> dict[str, Any]:
    return {"figure": figure, "svg": figure.inline(arms), "notes": notes.number(figure.warnings)}


def _code(text: str) -> Markup:
    """Text with `such spans` set as code; everything else is escaped."""
    pieces = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if index % 2 else escape(piece) for index, piece in enumerate(pieces)
    )
