"""The report as one HTML page: everything is inside it, nothing is fetched, and it needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup, escape

from dnagoat.reporting.drawing.figure import Figure
from dnagoat.reporting.methods import Methods
from dnagoat.reporting.style import Look, every_ink
from dnagoat.reporting.table import Table
from dnagoat.reporting.verdict import Verdict


def page(
    title: str,
    subtitle: str,
    verdict: Verdict,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    details: Sequence[Table],
    methods: Methods,
    looks: dict[str, Look],
) -> str:
    """The whole page; `tables` come first, `details` after the figures. Figures of one section stand together."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dnagoat.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    css = environment.get_template("report.css").render(inks=every_ink(), looks=looks)
    return environment.get_template("report.html").render(
        title=title,
        subtitle=subtitle,
        css=css,
        verdict=verdict,
        tables=tables,
        sections=_sections(figures),
        details=details,
        methods=methods,
        arms={arm: f"arm-{rank}" for rank, arm in enumerate(looks)},
    )


def _code(text: str) -> Markup:
    """Text with `such spans` set as code; everything else is escaped."""
    pieces = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if index % 2 else escape(piece) for index, piece in enumerate(pieces)
    )


def _sections(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "id": name.lower().replace(" ", "-"),
            "figures": [{"figure": figure, "svg": figure.inline()} for figure in group],
        }
        for name, group in groupby(figures, key=lambda figure: figure.section)
    ]
