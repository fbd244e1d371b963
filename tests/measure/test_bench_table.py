"""What `dnagoat bench` shows: every row, also of arms that ran out of memory after rounds that worked."""

from __future__ import annotations

import pytest

from dnagoat_cli.terminal import benchmark
from tests.reporting import crowd


def test_an_end_without_memory_is_told_whenever_it_came(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    rows = crowd.bench(["rope", "goat", "alibi", "nope"])["rows"]
    benchmark.show(rows, None, paper=True, as_json=False)
    told = capsys.readouterr().out
    lines = {" ".join(line.split()) for line in told.splitlines()}
    assert "rope 138,000 137,500 to 138,400 2.86 GB 3.00 GB sdpa, flash on CUDA ok" in lines
    assert "nope 138,000 137,500 to 138,400 2.86 GB 3.00 GB sdpa, flash on CUDA out of memory in round 2" in lines
    assert "goat n/a n/a n/a out of memory" in lines
    assert "alibi n/a n/a n/a refused" in lines
    assert "train, 8 x 8,192 bases, bf16, cuda, kernel dense" in lines
    assert "quadratic kernel" in told, "published figures come with their caveat"
