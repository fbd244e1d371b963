"""SIGKILL at any moment costs time and nothing else: the final weights and metrics are the uninterrupted run's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dnagoat.config import RunConfig
from dnagoat.runs import open_run
from dnagoat.training.checkpoint import model_sha256
from dnagoat.training.loop import train

RUNS, KILLS = 4, 4
TIMES = ("seconds", "tokens_per_second", "resident_peak")


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed(config: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config.model_dump(mode="json")))
    script = Path(__file__).with_name("killed.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "config.json"), str(tmp_path / "killed"), str(RUNS), str(KILLS)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},  # sums depend on the number of threads
    )
    assert done.returncode == 0, done.stderr[-4000:]
    deaths = json.loads(done.stdout)
    assert sum(died for *_, died in deaths) >= len(deaths) // 2  # a moment may lie beyond the end of a run

    list(train(config, tmp_path / "whole", device="cpu"))
    whole = open_run(tmp_path / "whole")
    for number in range(RUNS):
        run = open_run(tmp_path / "killed" / str(number))
        for which in ("last", "best"):
            assert model_sha256(run.checkpoint(which)) == model_sha256(whole.checkpoint(which))
        assert [without_times(row) for row in run.metrics()] == [without_times(row) for row in whole.metrics()]
        assert not list((run.path / "checkpoints").glob(".*")) + list(run.path.glob(".*.tmp"))


def without_times(row: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in TIMES}
