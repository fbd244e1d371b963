"""What is written down at each step: numbers a plot can follow, unknown as null."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError
from dnagoat.files import read_json
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.event_log import log_steps
from dnagoat.training.kept.metrics import FORGET, forget_peaks, resident_peak
from dnagoat.training.kept.run import open_run
from dnagoat.training.loop import train
from dnagoat.training.presets import changed


@pytest.fixture(scope="module")
def run(config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("metrics") / "run"
    list(log_steps(train(config, out, device="cpu"), out, "tensorboard"))
    return out


def test_rows_say_what_they_know_and_null_for_the_rest(run: Path, config: RunConfig) -> None:
    rows = open_run(run).metrics()
    assert [row["step"] for row in rows] == list(range(1, 13))
    assert [row["bases"] for row in rows] == [step * 4 * 64 for step in range(1, 13)]
    assert [row["step"] for row in rows if row["val_nll"] is not None] == [4, 8, 12]
    assert all(row["cuda_allocated_peak"] is None and row["resident_peak"] > 2**26 for row in rows)
    assert all(row["tokens_per_second"] > 0 and row["grad_norm"] > 0 for row in rows)


def test_the_prior_is_followed_over_time(run: Path, config: RunConfig) -> None:
    followed = {row["step"]: row["prior"] for row in open_run(run).metrics() if "prior" in row}
    assert list(followed) == [4, 8, 12]
    model = open_run(run).model("last")
    for name, parameter in model.position_parameters().items():
        if name.endswith((".slopes", ".gain", ".even", ".odd", ".first")):
            assert followed[12][name] == pytest.approx(parameter.flatten().tolist())
            assert followed[4][name] != followed[12][name]


def test_a_scheme_without_parameters_has_no_prior(config: RunConfig, tmp_path: Path) -> None:
    nope = changed(config, {"model.position.name": "nope", "train.steps": 2})
    list(train(nope, tmp_path / "run", device="cpu"))
    assert all("prior" not in row for row in open_run(tmp_path / "run").metrics())


def test_the_summary(run: Path, config: RunConfig) -> None:
    summary, rows = read_json(run / "summary.json"), open_run(run).metrics()
    assert summary["parameters"]["all"] == sum(p.numel() for p in DnaLM(config.model).parameters())
    assert summary["best_val_nll"] == min(row["val_nll"] for row in rows if row["val_nll"] is not None)
    assert summary["bases"] == 12 * 4 * 64 and summary["cuda_allocated_peak"] is None
    assert min(r["tokens_per_second"] for r in rows) <= summary["tokens_per_second"]
    assert summary["kernel"]
    assert summary["train_nll"] == pytest.approx(np.mean([row["loss"] for row in rows[8:12]]))  # since validation 8
    assert summary["val_nll"] == rows[-1]["val_nll"]


def test_tensorboard_holds_the_same_numbers(run: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run / "tensorboard")).Reload()
    rows = open_run(run).metrics()
    losses = events.Scalars("loss/train")
    assert [event.step for event in losses] == [row["step"] for row in rows]
    assert [event.value for event in losses] == pytest.approx([row["loss"] for row in rows])
    assert len(events.Scalars("loss/validation")) == 3
    assert any(tag.startswith("prior/") and "slopes" in tag for tag in events.Tags()["scalars"])


def test_an_unknown_logger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--log wandb"):
        list(log_steps([], tmp_path, "wandb"))


def test_metrics_are_json_without_nan(run: Path) -> None:
    text = (run / "metrics.jsonl").read_text()
    assert "NaN" not in text and "Infinity" not in text
    assert all(json.loads(line) for line in text.splitlines())


def test_peaks_count_from_where_they_were_forgotten() -> None:
    block = np.ones(50_000_000)  # 400 MB
    high = resident_peak()
    del block
    forget_peaks(torch.device("cpu"))
    if not FORGET.exists():
        pytest.skip("this kernel cannot forget a peak")
    assert resident_peak() < high - 300e6
