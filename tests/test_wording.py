"""One is not many: a count and its noun agree."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

from dnagoat.wording import counted, was_given

ROOT = Path(__file__).resolve().parents[1]
# What there may be one of, in what a person is told.
NOUNS = "window|sequence|record|region|allele|contig|variant|file|line|prompt|genome|GPU|tile"
BARE = re.compile(rf" ([a-z]+ )?({NOUNS})s\b")


def test_what_an_option_was_given_is_said_as_it_is_typed() -> None:
    assert was_given("--lr", 0.001, 0.5) == "--lr 0.001, not 0.5"
    assert (
        was_given("--times", [1, 2], [1]) == "--times 1,2, not 1" and was_given("--warmup", 0, 3) == "--warmup 0, not 3"
    )
    assert was_given("--content", None, 59) == "no --content, not 59"
    assert was_given("--content", 59, None) == "--content 59, not without"
    assert was_given("--score-n", True, False) == "--score-n, not without"
    assert was_given("--score-n", False, True) == "no --score-n, not with"


def test_a_count_and_its_noun_agree() -> None:
    assert [counted(count, "block") for count in (0, 1, 2, 1200)] == ["0 blocks", "1 block", "2 blocks", "1,200 blocks"]
    assert [counted(count, "batch") for count in (1, 2)] == ["1 batch", "2 batches"]
    assert counted(2, "fresh process") == "2 fresh processes" and counted(1.0, "base") == "1 base"
    assert counted(None, "prompt") == "n/a prompts"


def test_what_may_be_one_is_counted_by_the_one_function() -> None:
    """A number that is written before a plural would be said of one, too: "1 windows"."""
    places = [
        path for room in ("dnagoat", "cli") for path in (ROOT / room).rglob("*.py") if "reporting" not in path.parts
    ]
    bare = [
        f"{path.relative_to(ROOT)}:{text.lineno}"
        for path in places
        for text in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(text, ast.JoinedStr)
        for number, noun in pairwise(text.values)
        if isinstance(number, ast.FormattedValue) and _is_count(number) and BARE.match(str(getattr(noun, "value", "")))
    ]
    assert not bare


def _is_count(number: ast.FormattedValue) -> bool:
    """Whether a value is written as counts are: with commas, or the length of something."""
    text = ast.unparse(number.value)
    written = number.format_spec is not None and ast.unparse(number.format_spec) == "f','"
    return (written or text.startswith("len(")) and "counted(" not in text
