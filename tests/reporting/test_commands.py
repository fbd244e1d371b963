"""The training command of a report trains the very same configuration again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dnagoat.config import MomentumConfig, RunConfig
from dnagoat.reporting.commands import training
from dnagoat.reporting.results import read_runs
from dnagoat.training.presets import configure
from dnagoat_cli import app
from tests.reporting import example

GOAT = "model.position.goat."
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "rope": ("tiny", {"model.position.name": "rope", "train.steps": 7, "train.seed": 3}),
    "parts and periods": (
        "tiny",
        {GOAT + "parts": ("spectral", "recency"), GOAT + "periods": (3.0, 10.5, 171.0), GOAT + "rank": 3},
    ),
    "distances": (
        "tiny",
        {GOAT + "init": "distances", GOAT + "distances": ((1, 2), (1, 4), (1, 8), (2, 9)), GOAT + "amplitude": 0.5},
    ),
    "recency alone": ("tiny", {GOAT + "parts": ("recency",), GOAT + "init": "uniform"}),
    "learnt periods": ("tiny", {GOAT + "learn_periods": True}),
    "biases and heads": ("tiny", {"model.position.name": "rope+bias", GOAT + "init": "distances", "model.heads": 4}),
    "convolution": ("tiny", {"model.position.name": "alibi", "model.position.convolution": 4}),
    "ladder": ("paper", {"train.precision": "fp32", "train.steps": 5}),
    "momentum": (
        "small",
        {"model.position.name": "goat+rope", "model.position.momentum": MomentumConfig(strength=0.3, layers=(0, 2))},
    ),
    "sparse, N scored": (
        "tiny",
        {"model.normaliser": "entmax15", "train.score_n": True, "model.classes": 5, "train.jitter": 12},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_command_means_the_same_run(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preset, options = CASES[case]
    data = example.dataset(tmp_path / "data")
    config = configure(preset, str(data.path), data.content_hash, data.window, options)
    run = example.run(tmp_path / "run", config, 1.3, missing=example.MEASURES)
    begun: list[RunConfig] = []

    def instead(config: RunConfig, out: Path, **_: Any) -> Iterator[None]:
        begun.append(config)
        yield from ()

    monkeypatch.setattr("dnagoat.training.loop.train", instead)
    words = shlex.split(training(*read_runs([run])))
    result = CliRunner().invoke(app, [*words[1:-1], str(tmp_path / "again")])
    assert result.exit_code == 0, result.output
    assert _weights(begun[0]) == _weights(config)


def _weights(config: RunConfig) -> dict[str, Any]:
    """What trained weights depend on: not how often they are saved, nor what a part that is left out would be."""
    kept = config.model_dump(mode="json", exclude={"train": {"checkpoint_every", "keep", "recipe", "micro_batch"}})
    goat = kept["model"]["position"]["goat"]
    if config.model.position.name == "rope":
        goat.clear()
    return kept
