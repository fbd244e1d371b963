"""Examples in help can be copied from any terminal: a shell reads them as they were written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from dnagoat_cli import app
from dnagoat_cli.terminal.help_pages import COMMAND, fold_command, fold_help


def helps(group: Any) -> Iterator[str]:
    for command in group.commands.values():
        yield command.help or ""
        yield from helps(command) if hasattr(command, "commands") else ()


EXAMPLES = [line for text in helps(get_command(app)) for line in text.split("\n") if COMMAND.match(line)]


@pytest.mark.parametrize("room", [58, 78, 118])
def test_a_shell_reads_a_folded_example_as_it_was(room: int) -> None:
    assert len(EXAMPLES) > 60
    folded = 0
    for line in EXAMPLES:
        command, _, remark = line.partition("[dim]")
        shown = fold_command(line, room)
        above, _, rest = shown.rpartition(":[/dim]\n")
        told = (above or rest).replace("[dim]", "")
        assert shlex.split(rest.partition("[dim]")[0].replace("\\\n", "")) == shlex.split(command)
        assert " ".join(remark.removesuffix("[/dim]").split()) in " ".join(told.split())
        assert max(len(one.replace("[dim]", "").replace("[/dim]", "")) for one in shown.split("\n")) <= room, shown
        folded += shown != line
    assert folded < len(EXAMPLES)


def test_a_value_stays_beside_its_option_and_a_quoted_word_is_not_broken() -> None:
    line = '  dnagoat compare data/demo --arm rope --arm "published GOAT=goat@init=seeded" --out runs/named'
    lines = fold_command(line, 48).split("\n")
    assert [one.removesuffix(" \\").strip() for one in lines] == [
        "dnagoat compare data/demo --arm rope",
        '--arm "published GOAT=goat@init=seeded"',
        "--out runs/named",
    ]


def test_what_is_no_command_is_folded_between_its_words() -> None:
    text = "  rope, rope+bias, alibi;\n  @form=authors @init=seeded may follow; goat alone starts at distances."
    shown = fold_help(text, 40)
    assert shown.split() == text.split() and max(map(len, shown.split("\n"))) <= 40
    assert all(line.startswith("  ") for line in shown.split("\n"))


def test_help_shows_examples_so() -> None:
    shown = CliRunner().invoke(app, ["compare", "--help"], env={"COLUMNS": "80"}).stdout
    lines = [line.rstrip() for line in shown.splitlines()]
    start = next(place for place, line in enumerate(lines) if "published GOAT" in line)
    assert lines[start - 1].endswith("\\") and lines[start].strip().startswith("--arm")
