"""SIGKILL at any moment costs time and nothing else: the final weights and metrics are the uninterrupted run's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dnagoat.config import RunConfig
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import open_run

RUNS, KILLS = 4, 4
TIMES = ("seconds", "tokens_per_second", "resident_peak")


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed(config: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config.model_dump(mode="json")))
    deaths = killed(tmp_path, "killed", RUNS, KILLS)
    assert sum(died for *_, died in deaths) >= len(deaths) // 2  # a moment may lie beyond the end of a run

    # Trained in a process of the same kind: whoever calls torch.set_num_threads in this one changes how MKL divides a
    # small product, and with it the last bits.
    killed(tmp_path, "whole", 1, 0)
    whole = open_run(tmp_path / "whole" / "0")
    for number in range(RUNS):
        run = open_run(tmp_path / "killed" / str(number))
        for which in ("last", "best"):
            assert model_sha256(run.checkpoint(which)) == model_sha256(whole.checkpoint(which))
        assert [without_times(row) for row in run.metrics()] == [without_times(row) for row in whole.metrics()]
        assert not list((run.path / "checkpoints").glob(".*")) + list(run.path.glob(".*.tmp"))


def killed(folder: Path, out: str, runs: int, kills: int) -> list[tuple[str, int, bool, bool]]:
    """Trains `runs` runs into folder/out, each killed `kills` times: at which call, before or after it, did it die."""
    script = Path(__file__).with_name("killed.py")
    done = subprocess.run(
        [sys.executable, str(script), str(folder / "config.json"), str(folder / out), str(runs), str(kills)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    deaths: list[tuple[str, int, bool, bool]] = json.loads(done.stdout)
    return deaths


def without_times(row: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in row.items() if key not in TIMES}
