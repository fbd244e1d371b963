"""What `dnagoat bench` shows: every row, also of arms that ran out of memory after rounds that worked."""

from __future__ import annotations

import pytest

from dnagoat_cli.terminal.show import show_benchmark
from tests.reporting import crowd


def test_an_end_without_memory_is_told_whenever_it_came(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    show_benchmark(crowd.bench(["rope", "goat", "alibi", "nope"]), None, False)
    told = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in told.splitlines()]
    peaks = "2.66 GiB 2.79 GiB 0.73 GiB"
    setting = "train, 8 x 8,192 bases, bf16, cuda"
    assert f"rope {setting} sdpa, flash on CUDA 138,000 137,500 to 138,400 {peaks} ok" in lines
    assert f"nope {setting} sdpa, flash on CUDA 138,000 137,500 to 138,400 {peaks} out of memory in round 2" in lines
    assert f"goat {setting}, kernel dense n/a n/a n/a n/a n/a out of memory" in lines
    assert f"alibi {setting}, kernel dense n/a n/a n/a n/a n/a refused" in lines
    assert "rope with a convolution has no dense kernel; use auto" in told
    assert "quadratic kernel" in told, "published figures come with their caveat"
