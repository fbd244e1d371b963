"""Tables keep a number, its interval and its warning together, in every form that they are written in."""

from __future__ import annotations

import csv
import io

import pytest

from dnagoat.reporting.numbers import decimals, gibibytes, interval, large, listed, percent, whole
from dnagoat.reporting.table import Cell, Column, Row, Table


@pytest.fixture
def table() -> Table:
    cells = [Cell("1.25", 1.25, 1.2, 1.3, "1.20 to 1.30", ("other dataset", "few bases; few blocks")), Cell("n/a")]
    plain = [Cell("1.5", 1.5), Cell("7", 7)]
    columns = [Column("nll", "NLL", "nats per base"), Column("count", "Bases")]
    return Table("t", "A table", "Model", columns, [Row("a|b", cells, arm="a"), Row("c", plain)], ["A note."])


def test_csv_gives_interval_and_warning_columns_of_their_own(table: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert rows[0] == {
        "model": "a|b", "nll": "1.25", "nll_low": "1.2", "nll_high": "1.3",
        "nll_warning": "other dataset; few bases; few blocks", "count": "",
    }  # fmt: skip
    assert rows[1]["nll_low"] == "" and rows[1]["count"] == "7"


def test_markdown_keeps_the_warning_in_the_cell_of_its_number(table: Table) -> None:
    line = next(line for line in table.markdown().splitlines() if "1.25" in line)
    assert line == "| a\\|b | 1.25 <br> 1.20 to 1.30 <br> ⚠ other dataset; few bases; few blocks | n/a |"
    assert table.markdown().splitlines()[0] == "| Model | NLL (nats per base) | Bases |"


def test_what_is_unknown_is_called_so_and_never_zero() -> None:
    assert {decimals(None), whole(None), large(None), gibibytes(None), percent(None)} == {"n/a"}
    assert interval(None) == interval([None, None]) == ""


def test_numbers_as_a_reader_wants_them() -> None:
    assert decimals(-0.00661, sign=True) == "−0.0066"
    assert interval((-0.1, 0.2), 1, sign=True) == "−0.1 to +0.2"
    assert (large(1_228_800), large(812), whole(1_234_567)) == ("1.23 M", "812", "1,234,567")
    assert (gibibytes(1 << 30), percent(0.415)) == ("1.00 GiB", "41.5 %")
    assert (listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])) == ("a", "a and b", "a, b and c")
