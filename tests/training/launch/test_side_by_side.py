"""How far a run has come is read from the end of its metrics, however long a row is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dnagoat.training.launch.side_by_side import read_last_row


@pytest.mark.parametrize("numbers", [1, 500, 5_000, 50_000])
@pytest.mark.parametrize("begun", ["", '{"step": 3, "pri'])
def test_the_last_whole_row_is_found(numbers: int, begun: str, tmp_path: Path) -> None:
    rows = [{"step": step, "prior": [0.5] * numbers} for step in (1, 2)]
    file = tmp_path / "metrics.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + begun)
    assert read_last_row(file) == rows[-1]


@pytest.mark.parametrize("text", [None, "", '{"step": 1'])
def test_no_whole_row_is_none(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    if text is not None:
        file.write_text(text)
    assert read_last_row(file) is None
