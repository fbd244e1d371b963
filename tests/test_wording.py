"""One is not many: a count and its noun agree."""

from __future__ import annotations

from dnagoat.wording import counted, was_given


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
