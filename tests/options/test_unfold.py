"""Options declared once as a dataclass: a command shows them as its own, and gets one typed value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from dnagoat_cli.options.unfold import Sets, settings, unfold


@dataclass(frozen=True)
class Learning:
    steps: Annotated[int | None, typer.Option(min=1, help="Optimizer steps."), Sets("train.steps")] = None
    lr: Annotated[float, typer.Option(help="Peak rate."), Sets("train.lr")] = 1e-3
    parts: Annotated[list[str] | None, typer.Option("--part", help="Parts.")] = None


seen: list[tuple[Path, Learning, bool]] = []
app = typer.Typer()


@app.command()
@unfold
def command(
    out: Annotated[Path, typer.Argument(help="Where to.")],
    learning: Learning,
    quiet: Annotated[bool, typer.Option("--quiet")] = False,
) -> None:
    """Learns."""
    seen.append((out, learning, quiet))


@pytest.mark.parametrize(
    ("words", "learning", "quiet"),
    [
        ("here", Learning(), False),
        ("here --quiet --lr 0.5 --part a --part b", Learning(lr=0.5, parts=["a", "b"]), True),
        ("--steps 3 here", Learning(steps=3), False),
    ],
)
def test_a_command_gets_what_was_given(words: str, learning: Learning, quiet: bool) -> None:
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 0 and seen.pop() == (Path("here"), learning, quiet)


def test_a_field_is_checked_and_told_as_any_option() -> None:
    told = CliRunner().invoke(app, ["--help"]).output
    assert "--steps" in told and "Optimizer steps." in told and "--learning" not in told
    refused = CliRunner().invoke(app, ["here", "--steps", "0"])
    assert refused.exit_code == 2 and "--steps" in refused.stderr and not seen


def test_settings_are_by_the_paths_that_options_set() -> None:
    assert settings(Learning(steps=3, parts=["a"])) == {"train.steps": 3, "train.lr": 1e-3}
