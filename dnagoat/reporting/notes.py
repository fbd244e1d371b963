"""What hinders a comparison, as numbered notes: each is said once, and what it concerns carries its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dnagoat.reporting.table import Cell, Table

ALARM = "⚠ "  # how a table's note begins that is a warning


@dataclass
class Notes:
    """`sentences` has the whole sentence of a short warning; `said` grows as notes are asked for, the first being 1.

    `remarks` are the numbers of what limits the verdict, and the first `early` stand on the first screen.
    """

    sentences: Mapping[str, str]
    said: list[str] = field(default_factory=list)
    remarks: tuple[int, ...] = ()
    early: int = 0

    def number(self, warnings: Sequence[str]) -> tuple[int, ...]:
        """The number of each warning."""
        return tuple(map(self.add, warnings))

    def add(self, text: str) -> int:
        """The number of a note that is one, whatever stops it has."""
        sentence = self.sentences.get(text) or text.rstrip(".") + "."
        if sentence not in self.said:
            self.said.append(sentence)
        return self.said.index(sentence) + 1

    def numbered(self, table: Table) -> Table:
        """The table with numbers in the place of its warnings."""
        columns = [replace(one, warnings=(), notes=self.number(one.warnings)) for one in table.columns]
        rows = [replace(row, cells=[self._cell(cell) for cell in row.cells]) for row in table.rows]
        own = [number for note in table.notes if note.startswith(ALARM) for number in self._alarm(note)]
        plain = [note for note in table.notes if not note.startswith(ALARM)]
        return replace(table, columns=columns, rows=rows, notes=plain, marks=tuple(own))

    def _cell(self, cell: Cell) -> Cell:
        return replace(cell, warnings=(), notes=self.number(cell.warnings)) if cell.warnings else cell

    def _alarm(self, note: str) -> tuple[int, ...]:
        return (self.add(note.removeprefix(ALARM)),)
