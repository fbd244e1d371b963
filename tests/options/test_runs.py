"""Each option of training sets a field that a run's configuration has, and each shared one is declared once."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from dnagoat.config import ModelConfig, RunConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat.training.presets import ADAMW_RATES, PRESETS
from dnagoat_cli import app
from dnagoat_cli.options.runs import OneRun, Shared
from dnagoat_cli.options.unfold import paths, settings


def test_options_set_fields_that_there_are_each_once() -> None:
    config = RunConfig(model=ModelConfig(), train=TrainConfig(), dataset="d", dataset_hash="h", tool_version="0")
    every = [*paths(Shared).values(), *paths(OneRun).values()]
    assert len(every) == len(set(every)) > 20
    for path in every:
        value: object = config
        for name in path.split("."):
            assert name in type(value).model_fields, path  # type: ignore[attr-defined]
            value = getattr(value, name)


def test_what_was_not_given_is_left_out() -> None:
    assert settings(Shared()) == OneRun().settings() == {}
    assert settings(Shared(steps=3, reverse_complement=False)) == {"train.steps": 3, "train.reverse_complement": False}
    assert OneRun(score_n=True).settings() == {"train.score_n": True, "model.classes": 5}
    momentum = OneRun(momentum=0.5, momentum_layers="0,2").settings()["model.position.momentum"]
    assert (momentum.strength, momentum.layers) == (0.5, (0, 2))
    with pytest.raises(OptionError, match="give its strength"):
        OneRun(momentum_ramp=3).settings()


@pytest.mark.parametrize("command", ["train", "compare"])
def test_help_names_what_each_preset_has(command: str) -> None:
    shown = " ".join(CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout.split())
    for name, (_, train) in PRESETS.items():
        assert f"{name}: {train.steps:,}" in shown or f"{name}, paper: {train.steps:,}" in shown or name == "paper"
    assert "[default: (tiny, paper: 8; small: 16; 125m: 64)]" in shown  # windows
    assert "[default: (tiny, small: 4; paper: 8; 125m: 12)]" in shown  # heads
    rates = ", ".join(f"{name} {rate:g}" for name, rate in ADAMW_RATES.items())
    assert f"(adamw: {rates})" in shown.replace("│ │ ", "")
    if command == "train":
        assert "[default: (tiny, small, 125m: distances; paper: seeded)]" in shown


@pytest.mark.parametrize("command", [["train"], ["compare"], ["bench"], ["probe", "extrapolate"]])
def test_help_lists_every_preset(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is added to the library's presets needs no other file."""
    monkeypatch.setitem(PRESETS, "enormous", PRESETS["125m"])
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).stdout
    assert "tiny, small, paper, 125m or enormous" in shown


@pytest.mark.parametrize("command", ["train", "compare"])
def test_help_cuts_no_name_of_an_option(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "80"}).stdout
    assert "\u2026" not in shown and max(map(len, shown.splitlines())) <= 80
