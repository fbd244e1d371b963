"""Any table of the product on any terminal: no line is too long, and no letter is lost."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from dnagoat.genome.fetch.assemblies import catalogue
from dnagoat.measure.environment import environment
from dnagoat.reporting.contents import SECTIONS, compare_runs
from dnagoat.reporting.methods import methods
from dnagoat.reporting.sections import dataset as datasets
from dnagoat.reporting.sections import inspect, leaks, machine
from dnagoat.reporting.sections.comparison import every_table
from dnagoat.reporting.sections.probes import kinds
from dnagoat.reporting.sources import read
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat_cli.terminal.grid import JOINTS, LONG, draw_table, fold, share_out
from tests.reporting import crowd, example, inspected
from tests.reporting.test_probes import ALL

WIDTHS = (24, 40, 60, 80, 132, 400)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    """Every table that a command or a page shows: of eight arms with long names, and of two with all measures."""
    return list(_tables(tmp_path_factory.mktemp("tables")))


def _tables(folder: Path) -> Iterator[Table]:
    compared, bench = crowd.crowd(folder / "compared", 8, steps=20)
    runs, _ = example.everything(folder / "runs")
    for results in (read([compared], bench=[bench]), read(runs)):
        warnings = compare_runs(results)
        for section in SECTIONS:
            yield from filter(None, (*section.tables(results, warnings), *section.details(results, warnings)))
        yield methods(results, "dnagoat report").settings
        if results.comparison is not None:
            yield from every_table(results.comparison)
        if results.leakage is not None:
            yield from leaks.tables(results.leakage)
    yield from inspect.tables(inspected.result())
    for probe in ALL.values():
        yield from kinds.tables(probe)
    facts = environment()
    yield from (machine.devices(facts), machine.kernels(facts))
    yield datasets.catalogue(dict(catalogue()).values())
    yield datasets.passport(example.dataset(folder / "data"))


def drawn(table: Table, width: int) -> str:
    file = io.StringIO()
    draw_table(table, Console(file=file, width=width, highlight=False))
    return file.getvalue()


def said(table: Table) -> Iterator[str]:
    yield from (table.title, *table.notes)
    for column in table.columns:
        yield from (column.head, column.unit, *column.warnings)
    for row in table.rows:
        yield row.head
        for cell in row.cells:
            yield from cell.lines()


def letters(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_table_is_too_wide_and_none_loses_a_letter(width: int, tables: list[Table]) -> None:
    faults = []
    for table in tables:
        text = drawn(table, width)
        faults += [f"{table.name}: {line!r}" for line in text.splitlines() if cell_len(line.rstrip()) > width]
        lost = letters(" ".join(said(table))) - letters(text)
        faults += [f"{table.name} lost {dict(lost)}"] * bool(lost)
    assert not faults, "\n".join(faults[:20])


@pytest.mark.parametrize("width", [40, 80])
def test_every_number_stands_in_one_piece(width: int, tables: list[Table]) -> None:
    """Its interval too: `0.1234 to 0.2345` is read in one line."""
    for table in tables:
        text = drawn(table, width)
        for row in table.rows:
            for cell, column in zip(row.cells, table.columns, strict=True):
                for line in (cell.text, *cell.under.split("\n")) if column.numeric else ():
                    assert len(line) > LONG or line in text, (table.name, line)


def test_a_table_lies_down_turns_and_splits_as_there_is_room() -> None:
    numbers = [Cell(f"{place}.2345", place, 0, 1, "0.1000 to 0.9000") for place in range(1, 5)]
    columns = [Column(f"c{place}", f"measure {place}", "nats") for place in range(4)]
    table = Table("t", "Title", "Model", columns, [Row("one", numbers), Row("two", numbers)])
    beside = drawn(table, 120).splitlines()
    assert any(line.startswith("one") and line.count("0.1000 to 0.9000") == 4 for line in beside)
    below = drawn(table, 80).splitlines()
    assert not any(line.startswith("one") and "to" in line for line in below) and "0.1000 to 0.9000" in below[5]
    turned = drawn(table, 50).splitlines()
    assert turned[1].split() == ["one", "two"] and turned[3].startswith("measure 0")
    split = drawn(table, 40)
    assert split.count("Model") == 4 or split.count("measure 1") == 2


def test_muted_rows_and_calls_have_a_look_where_there_is_colour() -> None:
    cells = [Cell("better", "better", tone="good")]
    table = Table("t", "Title", "Model", [Column("v", "verdict", numeric=False)], [Row("goat", cells)])
    coloured, plain = io.StringIO(), io.StringIO()
    draw_table(table, Console(file=coloured, width=80, force_terminal=True, color_system="standard"))
    draw_table(table, Console(file=plain, width=80, force_terminal=True, color_system="standard", no_color=True))
    assert "\x1b[1;32mbetter" in coloured.getvalue()
    assert "better" in plain.getvalue() and "\x1b[1;32m" not in plain.getvalue()
    assert "\x1b" not in drawn(table, 80), "a pipe gets text alone"


def test_names_that_look_like_markup_stay_text() -> None:
    table = Table("t", "[b]Title[/b]", "Model", [Column("v", "[red]", numeric=False)], [Row("[/x]", [Cell("[i]")])])
    assert letters("[b]Title[/b]Model[red][/x][i]") - letters(drawn(table, 80)) == Counter()


@pytest.mark.parametrize("width", range(1, 30))
def test_folding_loses_no_letter(width: int) -> None:
    text = "goat+rope@init=distances@distances=1/2/4/8 (lr 0.001, 1,234,567 weights), the last"
    lines = fold(text, width)
    assert max(map(len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_numbers_are_no_joints() -> None:
    assert JOINTS.split("1,234,567 bases") == ["1,234,567 ", "bases"]


def test_room_is_given_where_it_is_needed() -> None:
    assert share_out([(5, 5), (4, 10), (2, 8)], 17) == [5, 7, 5]
    assert share_out([(5, 9), (4, 10)], 40) == [9, 10]
