"""What a table is: named columns with units and cells that keep their number, interval and warning together."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Tone = Literal["", "good", "bad", "unsure"]


@dataclass(frozen=True)
class Cell:
    """What is read (`text`), the number behind it, its interval, and what warns of it, which belongs beside it."""

    text: str
    value: float | int | str | None = None
    low: float | None = None
    high: float | None = None
    under: str = ""  # smaller lines below: the interval, the count
    warnings: tuple[str, ...] = ()
    tone: Tone = ""  # what a colour may say besides
    notes: tuple[int, ...] = ()  # numbers of the notes that stand for the warnings on a page

    def lines(self) -> list[str]:
        first, *more = self.text, *self.under.split("\n"), alarm(self.warnings)
        return [line for line in (marked(first, self.notes), *more) if line]

    def warned(self, warnings: Sequence[str]) -> Cell:
        """The same with these warnings before its own; a cell without a number has nothing to be warned of."""
        return self if self.value is None else replace(self, warnings=(*warnings, *self.warnings))

    @property
    def warning(self) -> str:
        """Its warnings in a line, as a column of a CSV file has them."""
        return "; ".join(self.warnings)


@dataclass(frozen=True)
class Column:
    """`warnings` belong beside every number of the column."""

    key: str
    head: str
    unit: str = ""
    numeric: bool = True
    warnings: tuple[str, ...] = ()
    notes: tuple[int, ...] = ()

    def lines(self) -> list[str]:
        said = f"{self.head} ({self.unit})" if self.unit else self.head
        return [line for line in (marked(said, self.notes), alarm(self.warnings)) if line]


@dataclass(frozen=True)
class Row:
    """`arm` colours the row's head; `muted` marks a yardstick rather than a model."""

    head: str
    cells: list[Cell]
    arm: str | None = None
    muted: bool = False


@dataclass(frozen=True)
class Table:
    """`first` is the head of the column of row heads; `few` are the rows that a first look needs, 0 all of them;
    `marks` are numbers of notes that concern all of it."""

    name: str
    title: str
    first: str
    columns: list[Column]
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    marks: tuple[int, ...] = ()
    few: int = 0

    def shortened(self, rest: str) -> Table:
        """The few rows alone, with a note of how many more there are; `rest` says where."""
        left = len(self.rows) - self.few
        if not self.few or left <= 0:
            return self
        return replace(self, rows=self.rows[: self.few], notes=[f"{left} more {rest}.", *self.notes], few=0)

    def refers_to(self) -> set[int]:
        """The numbers of notes that stand in it."""
        cells = [number for row in self.rows for cell in row.cells for number in cell.notes]
        return {*self.marks, *cells, *(number for column in self.columns for number in column.notes)}

    def markdown(self) -> str:
        head = [self.first, *(" <br> ".join(column.lines()) for column in self.columns)]
        rule = ["---", *("---:" if column.numeric else "---" for column in self.columns)]
        body = [[row.head, *(" <br> ".join(cell.lines()) for cell in row.cells)] for row in self.rows]
        lines = ["| " + " | ".join(_escaped(text) for text in line) + " |" for line in (head, rule, *body)]
        notes = "".join(f"\n\n{note}" for note in self.notes)
        return "\n".join(lines) + notes

    def csv(self) -> str:
        """One line a row; a column with intervals gets `_low` and `_high` beside it, one with warnings `_warning`."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        fields = [self._fields(index) for index in range(len(self.columns))]
        writer.writerow([self.first.lower(), *(name for group in fields for name, _ in group)])
        for row in self.rows:
            cells = [cell.warned(column.warnings) for cell, column in zip(row.cells, self.columns, strict=True)]
            values = [getattr(cells[index], attribute) for index, group in enumerate(fields) for _, attribute in group]
            writer.writerow([row.head, *("" if value is None else value for value in values)])
        return buffer.getvalue()

    def _fields(self, index: int) -> list[tuple[str, str]]:
        key = self.columns[index].key
        cells = [row.cells[index] for row in self.rows]
        fields = [(key, "value")]
        if any(cell.low is not None for cell in cells):
            fields += [(f"{key}_low", "low"), (f"{key}_high", "high")]
        if self.columns[index].warnings or any(cell.warnings for cell in cells):
            fields.append((f"{key}_warning", "warning"))
        return fields

    def as_dict(self) -> dict[str, object]:
        return {
            "title": self.title,
            "columns": [
                {"key": c.key, "head": c.head, "unit": c.unit, "warnings": list(c.warnings)} for c in self.columns
            ],
            "rows": [
                {
                    "head": row.head,
                    "arm": row.arm,
                    **{
                        column.key: {
                            "value": cell.value,
                            "low": cell.low,
                            "high": cell.high,
                            "warnings": list(cell.warnings),
                        }
                        for column, cell in zip(self.columns, row.cells, strict=True)
                    },
                }
                for row in self.rows
            ],
            "notes": self.notes,
        }


def alarm(warnings: Sequence[str]) -> str:
    """Warnings as a line below what they concern; empty where there are none."""
    return f"⚠ {'; '.join(warnings)}" if warnings else ""


def marked(text: str, notes: tuple[int, ...]) -> str:
    """`1.31 [2]`: the text with the numbers of the notes that concern it."""
    return f"{text} [{', '.join(map(str, notes))}]" if notes else text


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
