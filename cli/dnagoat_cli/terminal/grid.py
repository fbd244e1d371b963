"""How any table looks in a terminal: nothing is ever cut, whatever the width.

What does not fit is folded between its words; where that is not enough the table is turned (columns down, rows
across), or split into tables below each other, whichever takes fewer. On a very narrow terminal each cell has a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from dnagoat.reporting.table import Cell, Column, Row, Table, alarm, marked

GAP = 2  # between columns
LONG = 26  # letters of a line that is kept whole, and of a name that is
FEWEST = 6  # letters that a name is never broken below
JOINTS = re.compile(r"(?<=[ +/])|(?<=,)(?!\d)|(?=[@(])")  # where a name may be broken
TONES = {"": "", "good": "bold green", "bad": "bold red", "unsure": "yellow"}


@dataclass(frozen=True)
class Line:
    """One line of a cell; `whole` is not broken where there is any other way."""

    text: str
    style: str = ""
    whole: bool = False

    @property
    def width(self) -> int:
        return cell_len(self.text)

    def least(self, name: int) -> int:
        """The fewest letters of a line that it takes, names broken into pieces of at most `name`."""
        if self.whole:
            return self.width
        return max((min(cell_len(piece.strip()), name) for piece in JOINTS.split(self.text)), default=0)


Block = list[Line]


@dataclass(frozen=True)
class Part:
    """A column of the screen: its head and its cells."""

    head: Block
    cells: list[Block] = field(default_factory=list)
    right: bool = False

    def lines(self) -> Iterator[Line]:
        yield from self.head
        for cell in self.cells:
            yield from cell

    def least(self, name: int) -> int:
        return max((line.least(name) for line in self.lines()), default=0)

    def most(self) -> int:
        return max((line.width for line in self.lines()), default=0)


def draw_tables(tables: Iterable[Table], console: Console) -> None:
    for table in tables:
        draw_table(table, console)


def draw_table(table: Table, console: Console) -> None:
    """Prints a table with its title above and its notes below."""
    width = console.width
    console.print(Text(marked(table.title, table.marks), style="bold"))
    layout = _layout(table, width)
    for place, group in enumerate(layout):
        if place:
            console.print()
        console.print(_grid(group, width))
    if not layout:
        _print_stacked(table, console)
    for note in table.notes:
        console.print(Text(note, style="dim"), overflow="fold")
    console.print()


def _layout(table: Table, width: int) -> list[list[Part]]:
    """The parts of each table that is drawn; empty where no column at all has room beside the heads."""
    rows, turned = _down(table), _across(table)
    for parts in (_down(table, beside=True), rows, turned):
        if _fits(parts, width):
            return [parts]
    choices = [groups for groups in (_groups(rows, width), _groups(turned, width)) if groups]
    return min(choices, key=len, default=[])


def _name(width: int) -> int:
    """Letters of a name's piece before it is broken: fewer where the terminal is narrow."""
    return max(FEWEST, min(LONG, width - GAP - LONG))


def _fits(parts: Sequence[Part], width: int) -> bool:
    return sum(part.least(_name(width)) for part in parts) + GAP * (len(parts) - 1) <= width


def _groups(parts: Sequence[Part], width: int) -> list[list[Part]]:
    """The first part with as many others as fit, then the first again with the next; empty where none fits."""
    first, *others = parts
    groups: list[list[Part]] = []
    for part in others:
        if groups and _fits([*groups[-1], part], width):
            groups[-1].append(part)
        elif _fits([first, part], width):
            groups.append([first, part])
        else:
            return []
    return groups


def _down(table: Table, *, beside: bool = False) -> list[Part]:
    """Rows down, columns across; an interval stands below its number, or beside it."""
    heads = Part([Line(table.first)], [[Line(row.head, _muted(row))] for row in table.rows])
    parts = [heads]
    for index, column in enumerate(table.columns):
        cells = [_block(row.cells[index], column, _muted(row)) for row in table.rows]
        parts.append(Part(_head(column), _beside(cells) if beside and column.numeric else cells, column.numeric))
    return parts


def _across(table: Table) -> list[Part]:
    """Columns down, rows across: measures down, models across."""
    parts = [Part([Line("")], [_head(column) for column in table.columns])]
    for row in table.rows:
        cells = [_block(cell, column, _muted(row)) for cell, column in zip(row.cells, table.columns, strict=True)]
        parts.append(Part([Line(row.head, _muted(row))], cells, right=True))
    return parts


def _head(column: Column) -> Block:
    unit = [Line(column.unit, "dim")] if column.unit else []
    return [Line(marked(column.head, column.notes)), *unit, *_alarm(column.warnings)]


def _block(cell: Cell, column: Column, style: str) -> Block:
    """The number, below it what belongs beside it, and its warning."""
    said = [(text, TONES[cell.tone] or style) for text in marked(cell.text, cell.notes).split("\n")]
    said += [(text, "dim") for text in cell.under.split("\n") if text]
    lines = [Line(text, look, column.numeric and cell_len(text) <= LONG) for text, look in said]
    return lines + _alarm(cell.warnings)


def _alarm(warnings: Sequence[str]) -> Block:
    return [Line(alarm(warnings), "yellow")] if warnings else []


def _beside(cells: Sequence[Block]) -> list[Block]:
    """Each number with its interval in one line, both aligned; as they are where a cell has more lines than these."""
    if any(len(cell) > 2 for cell in cells) or all(len(cell) < 2 for cell in cells):
        return list(cells)
    left = max(cell[0].width for cell in cells)
    right = max(cell[1].width for cell in cells if len(cell) > 1)
    return [
        [Line(f"{' ' * (left - cell[0].width)}{cell[0].text}  {_under(cell).ljust(right)}", cell[0].style, whole=True)]
        for cell in cells
    ]


def _under(cell: Block) -> str:
    return cell[1].text if len(cell) > 1 else ""


def _muted(row: Row) -> str:
    return "dim" if row.muted else ""


def _grid(parts: Sequence[Part], width: int) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    widths = share_out([(part.least(_name(width)), part.most()) for part in parts], width - GAP * (len(parts) - 1))
    for part, room in zip(parts, widths, strict=True):
        head = _text(part.head, room, bold=True)
        grid.add_column(head, width=room, justify="right" if part.right else "left", no_wrap=True, overflow="fold")
    for cells in zip(*(part.cells for part in parts), strict=True):
        grid.add_row(*(_text(cell, room) for cell, room in zip(cells, widths, strict=True)))
    return grid


def share_out(ranges: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Widths between the least and the most of each column, the room that is left given where it is needed."""
    spare = room - sum(least for least, _ in ranges)
    needs = [most - least for least, most in ranges]
    total = sum(needs)
    if total <= spare:
        return [most for _, most in ranges]
    return [least + need * spare // total for (least, _), need in zip(ranges, needs, strict=True)]


def _text(block: Block, width: int, *, bold: bool = False) -> Text:
    lines = [
        Text(piece, style=f"{line.style} bold".strip() if bold else line.style)
        for line in block
        for piece in fold(line.text, width)
    ]
    return Text("\n").join(lines)


def fold(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` letters, broken at its joints where it has any; no letter is lost."""
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for piece in JOINTS.split(text):
        if lines[-1].strip() and cell_len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
        while cell_len(lines[-1].strip()) > width:
            said = lines[-1].strip()
            lines[-1:] = [said[:width], said[width:]]
    return [line.strip() for line in lines]


def _print_stacked(table: Table, console: Console) -> None:
    """Each row by its head, below it a line for each cell."""
    for row in table.rows:
        console.print(Text(f"{table.first} {row.head}", style="bold"), overflow="fold")
        for column, cell in zip(table.columns, row.cells, strict=True):
            said = " ".join([*column.lines(), *(line.replace("\n", " ") for line in cell.lines())])
            console.print(Text(said), overflow="fold")
