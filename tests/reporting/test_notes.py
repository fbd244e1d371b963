"""A note is said once, whatever it concerns, and numbers stand where warnings stood."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from dnagoat.reporting.document import Report
from dnagoat.reporting.notes import Notes
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat_cli.terminal.show import show_report


def test_each_warning_has_one_number_and_is_not_taken_apart() -> None:
    notes = Notes({"other size": "Models differ in width or layers; compare goat with care."})
    assert notes.add("rope better; goat worse.") == 1
    assert notes.number(["other size", "few blocks; the interval is too narrow"]) == (2, 3)
    assert notes.number(["few blocks; the interval is too narrow", "other size"]) == (3, 2)
    assert notes.number([]) == ()
    assert notes.said[1:] == [
        "Models differ in width or layers; compare goat with care.",
        "few blocks; the interval is too narrow.",
    ]


def test_a_table_has_numbers_in_the_place_of_its_warnings() -> None:
    cells = [Cell("1.31", 1.31, warnings=("other size",)), Cell("n/a")]
    columns = [Column("a", "A"), Column("b", "B", warnings=("of the first model",))]
    table = Table("t", "T", "Model", columns, [Row("goat", cells)], ["⚠ few blocks.", "A note of its own."])
    notes = Notes({})
    made = notes.numbered(table)
    assert [cell.notes for cell in made.rows[0].cells] == [(2,), ()]
    assert [column.notes for column in made.columns] == [(), (1,)]
    assert made.marks == (3,) and made.notes == ["A note of its own."]
    assert not any(cell.warnings for cell in made.rows[0].cells)
    assert "1.31 [2]" in made.markdown() and "B [1]" in made.markdown()
    assert table.rows[0].cells[0].warnings == ("other size",), "the table itself keeps its words, for CSV and JSON"


@pytest.mark.parametrize("which", ["whole", "crowded"])
def test_a_terminal_numbers_notes_as_the_page_does(
    which: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Report = request.getfixturevalue(which)
    monkeypatch.setenv("COLUMNS", "400")
    show_report(made, Path("report.html"))
    shown = capsys.readouterr().out
    items = re.findall(r'<li id="note-(\d+)">(.*?)</li>', made.html(), flags=re.DOTALL)
    on_page = {int(number): html.unescape(re.sub("</?code>", "`", text)) for number, text in items}
    in_terminal = {int(number): text for number, text in re.findall(r"^  (\d+)\. (.*)$", shown, flags=re.MULTILINE)}
    assert in_terminal and in_terminal.items() <= on_page.items()
    referred = {int(number) for found in re.findall(r"\[(\d+(?:, \d+)*)\]", shown) for number in found.split(", ")}
    assert referred == set(in_terminal), "each number that stands beside something is explained, and no other"
    assert set(made.notes().remarks) <= set(in_terminal)
