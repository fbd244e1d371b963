"""One is not many: a count and its noun agree."""

from __future__ import annotations

from dnagoat.wording import counted


def test_a_count_and_its_noun_agree() -> None:
    assert [counted(count, "block") for count in (0, 1, 2, 1200)] == ["0 blocks", "1 block", "2 blocks", "1,200 blocks"]
    assert [counted(count, "batch") for count in (1, 2)] == ["1 batch", "2 batches"]
    assert counted(2, "fresh process") == "2 fresh processes" and counted(1.0, "base") == "1 base"
    assert counted(None, "prompt") == "n/a prompts"
