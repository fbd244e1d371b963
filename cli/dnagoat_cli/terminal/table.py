"""A table that fits: columns where the terminal is wide enough for their words, else row by row, a line a cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich import box, table
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

if TYPE_CHECKING:
    from dnagoat.reporting.table import Table as Numbers

UNBOUND = 10_000


class Table(table.Table):
    """rich's table, which cuts cells and breaks words where room is short; this one wraps between words, or stacks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.update(max_width=UNBOUND)
        ranges = [self._range(console, wide, column) for column in self.columns]
        most = sum(widest for _, widest in ranges)
        room = options.max_width - (Measurement.get(console, wide, self).maximum - most)  # without rules and padding
        if most <= room:
            yield from super().__rich_console__(console, options)
            return
        unwrapped = [
            (most, most) if column.no_wrap else (least, most)
            for (least, most), column in zip(ranges, self.columns, strict=True)
        ]
        for needed in (unwrapped, ranges):
            if sum(least for least, _ in needed) <= room:
                for column, width in zip(self.columns, share_out(needed, room), strict=True):
                    column.width, column.no_wrap, column.overflow = width, False, "fold"
                yield from super().__rich_console__(console, options)
                return
        yield from self._stacked(console)

    def _range(self, console: Console, options: ConsoleOptions, column: table.Column) -> tuple[int, int]:
        """The longest word and the longest line of a column."""
        cells = [column.header, *column.cells] if self.show_header else [*column.cells]
        measured = [Measurement.get(console, options, _text(console, cell)) for cell in cells]
        most = column.max_width or UNBOUND
        least, widest = (max((size[side] for size in measured), default=0) for side in (0, 1))
        return min(least, most), min(widest, most)

    def _stacked(self, console: Console) -> Iterator[Any]:
        """Each row by its first cell, below it `column  cell` for every other that says something."""
        if self.title:
            yield console.render_str(str(self.title), style=self.title_style or "bold")
        heads = [_text(console, column.header) if self.show_header else Text() for column in self.columns]
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            first, *rest = (_text(console, cell) for cell in cells)
            first.stylize("bold")
            yield _joined(" ", heads[0], first)
            for head, cell in zip(heads[1:], rest, strict=True):
                if cell.plain.strip():
                    yield Padding(_joined("  ", head, cell), (0, 0, 0, 2))
        yield Text()


def share_out(ranges: list[tuple[int, int]], room: int) -> list[int]:
    """Widths of columns between their least and their most, the room that is left given in proportion to the need."""
    spare = room - sum(least for least, _ in ranges)
    needs = [most - least for least, most in ranges]
    return [least + need * spare // max(sum(needs), 1) for (least, _), need in zip(ranges, needs, strict=True)]


def _text(console: Console, cell: Any) -> Text:
    return cell.copy() if isinstance(cell, Text) else console.render_str(str(cell))


def _joined(between: str, *parts: Text) -> Text:
    """What is said, on one line: heads and cells have several where columns are narrow."""
    said = [Text(" ").join(part.split("\n")) for part in parts if part.plain.strip()]
    joined = Text(between).join(said)
    joined.overflow = "fold"
    return joined


def show_down(numbers: Numbers, console: Console) -> None:
    """Prints a table as it is; `show` of the report turns it so that models stand side by side."""
    table = Table(title=numbers.title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    table.add_column(numbers.first, no_wrap=True)
    for column in numbers.columns:
        table.add_column("\n".join(column.lines()), justify="right")
    for row in numbers.rows:
        table.add_row(row.head, *("\n".join(cell.lines()) for cell in row.cells))
    console.print(table)
    for note in numbers.notes:
        console.print(note, markup=False, style="dim")
