"""How a sentence is printed: folded between words where a person reads it, one line where a script does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def print_prose(text: str, console: Console, *, style: str | None = None, markup: bool = True) -> None:
    """A terminal folds a line that is not folded for it wherever the line ends, in the middle of a word."""
    console.print(text, style=style, markup=markup, highlight=False, soft_wrap=not console.is_terminal)
