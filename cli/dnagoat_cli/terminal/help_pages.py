"""Help as wide as the terminal, with examples that can be copied whatever that is."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import Any

from typer.core import TyperGroup

COMMAND = re.compile(r" +(dnagoat|torchrun|zcat|bcftools) ")  # how an example begins
WORD = re.compile(r'--[\w-]+ +(?!-)(?:"[^"]*"|[^\s"|>])+|(?:"[^"]*"|[^\s"])+')  # an option with its value is one


def let_help_flow(group: Any) -> None:
    """Folds the help of every command: Typer keeps the line ends of the source, and breaks long lines anywhere."""
    room = shutil.get_terminal_size().columns - 2  # Typer leaves one letter at each side
    for command in group.commands.values():
        parts = (command.help or "").strip("\n").split("\n\n")
        command.help = "\n\n".join(fold_help(part, room) for part in parts)
        if isinstance(command, TyperGroup):
            let_help_flow(command)


def fold_help(part: str, room: int) -> str:
    """A paragraph on one line, which Typer folds; what is set in is folded here, a command as a shell reads it."""
    if not part.startswith(" "):
        return part.replace("\n", " ")
    if COMMAND.match(part):
        return "\n".join(fold_command(line, room) for line in part.split("\n"))
    return _set_in(part, room)


def fold_command(line: str, room: int) -> str:
    """An example as it is where it has room; else its remark above it, and a backslash where it goes on below."""
    command, _, remark = line.partition("[dim]")
    remark = remark.removesuffix("[/dim]")
    if len(command + remark) <= room:
        return line
    lines = [""]
    for word in WORD.findall(command):
        if lines[-1] and len(lines[-1] + word) + 5 > room:
            lines.append("  ")
        lines[-1] += f" {word}" if lines[-1].strip() else word
    above = [f"[dim]{_set_in(f'{remark}:', room)}[/dim]"] if remark else []
    return "\n".join([*above, " \\\n".join(f"  {one}" for one in lines)])


def _set_in(text: str, room: int) -> str:
    words = " ".join(text.split())
    return textwrap.fill(
        words, room, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )
