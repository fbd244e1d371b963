"""A run flushes subnormal numbers from its first step to its last, says so, and resumes bit for bit."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from dnagoat.attention.fast.subnormals import count_subnormal, subnormals
from dnagoat.config import RunConfig
from dnagoat.errors import Stopped
from dnagoat.files import read_json
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training import loop
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import open_run
from dnagoat.training.loop import train
from dnagoat.training.presets import configure
from tests.training.conftest import SMALL, write_genome


class Subnormal(TorchDispatchMode):
    """Counts the subnormal numbers among the outputs and gradients of attention's kernel."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if "attention" in str(func):
            self.count += sum(count_subnormal(x) for x in result if isinstance(x, Tensor) and x.device.type == "cpu")
        return result


@pytest.fixture(scope="module")
def steep(tmp_path_factory: pytest.TempPathFactory) -> RunConfig:
    """ALiBi with eight heads, the first of slope 1/2, over 512 bases: 103 nats are reached at 206."""
    folder = tmp_path_factory.mktemp("genome")
    options = PrepareOptions(window=512, val=("c1",), test=("c2",), max_n=0.9)
    data = prepare(write_genome(folder / "genome.fa"), folder / "dataset", options)
    wide = {"model.width": 128, "model.heads": 8, "model.layers": 1, "model.position.name": "alibi"}
    short = {"train.steps": 4, "train.batch_size": 2, "train.eval_windows": 2}
    return configure("tiny", str(data.path), data.content_hash, data.window, {**SMALL, **wide, **short})


def test_attention_gives_no_subnormal_numbers_in_a_run(
    steep: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Subnormal() as flushed:
        steps = list(train(steep, tmp_path / "flushed", device="cpu"))
    assert (len(steps), flushed.count) == (4, 0)
    assert read_json(tmp_path / "flushed" / "summary.json")["subnormals"] == "flushed"
    monkeypatch.setattr(loop, "flush_subnormals", nullcontext)
    with Subnormal() as kept:
        list(train(steep, tmp_path / "kept", device="cpu"))
    assert kept.count > 1_000
    assert read_json(tmp_path / "kept" / "summary.json")["subnormals"] == "kept"


def test_a_stopped_run_that_flushes_is_resumed_bit_for_bit(steep: RunConfig, tmp_path: Path) -> None:
    list(train(steep, tmp_path / "whole", device="cpu"))
    asked = iter([None, "SIGTERM"])
    with pytest.raises(Stopped):
        list(train(steep, tmp_path / "run", device="cpu", stop=lambda: next(asked)))
    list(train(steep, tmp_path / "run", device="cpu", resume=True))
    whole, run = (open_run(tmp_path / name).checkpoint("last") for name in ("whole", "run"))
    assert model_sha256(run) == model_sha256(whole)


def test_the_switch_is_on_between_steps_and_off_after_an_abandoned_run(config: RunConfig, tmp_path: Path) -> None:
    found = [subnormals() for _ in islice(train(config, tmp_path / "run", device="cpu"), 2)]
    assert (found, subnormals()) == (["flushed"] * 2, "kept")
