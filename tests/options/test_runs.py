"""Each option of training sets a field that a run's configuration has, and each shared one is declared once."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from dnagoat.config import ModelConfig, RunConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat_cli.options.runs import OneRun, Shared
from dnagoat_cli.options.unfold import Sets, settings


def paths(group: type) -> list[str]:
    hints = get_type_hints(group, include_extras=True).values()
    return [mark.path for hint in hints for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Sets)]


def test_options_set_fields_that_there_are_each_once() -> None:
    config = RunConfig(model=ModelConfig(), train=TrainConfig(), dataset="d", dataset_hash="h", tool_version="0")
    every = [*paths(Shared), *paths(OneRun)]
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
