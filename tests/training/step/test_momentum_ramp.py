"""Momentum's ramp counts steps from 1 wherever a model learns: in a run and in a probe."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from dnagoat.config import RunConfig
from dnagoat.evaluation.probes.fit import fit
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat.training.loop import train


def test_a_run_and_a_probe_climb_the_same_ramp(
    config: RunConfig, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(DnaLM, "set_step", lambda _, step: seen.append(step))
    settings = config.train.but(steps=3)
    list(train(config.but(train=settings), tmp_path / "run", device="cpu", dataset=dataset))
    assert seen == [1, 2, 3]
    seen.clear()
    codes = torch.zeros(1, 8, dtype=torch.int64)
    list(fit(DnaLM(config.model), lambda _: (codes, codes), settings))
    assert seen == [1, 2, 3]
