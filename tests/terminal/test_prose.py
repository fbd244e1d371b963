"""A sentence is folded between words where a person reads it, and stays one line where a script does."""

from __future__ import annotations

import io

from rich.console import Console

from dnagoat_cli.terminal.prose import print_prose

SENTENCE = " ".join(["[bold]0.1[/bold]", *["likelihood"] * 20])


def printed(*, terminal: bool) -> list[str]:
    file = io.StringIO()
    print_prose(SENTENCE, Console(file=file, width=45, force_terminal=terminal, color_system=None))
    return file.getvalue().splitlines()


def test_a_terminal_folds_between_words() -> None:
    lines = printed(terminal=True)
    assert len(lines) > 4 and all(len(line) <= 45 for line in lines)
    assert set(" ".join(lines).split()) == {"0.1", "likelihood"}


def test_a_pipe_has_one_line() -> None:
    assert len(printed(terminal=False)) == 1
