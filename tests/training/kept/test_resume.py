"""A resumed run is the uninterrupted one, bit for bit on the CPU."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from dnagoat.config import RunConfig
from dnagoat.errors import RunError, Stopped
from dnagoat.files import read_json
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import OPTIMIZER, model_sha256, present
from dnagoat.training.kept.run import STATE, open_run
from dnagoat.training.loop import train
from dnagoat.training.presets import changed

TIMES = ("seconds", "tokens_per_second", "resident_peak")


def timeless(run: Path) -> list[dict[str, Any]]:
    """The rows of metrics.jsonl without what a clock or the machine decides."""
    return [{k: v for k, v in row.items() if k not in TIMES} for row in open_run(run).metrics()]


def stops_at(step: int) -> Callable[[], str | None]:
    asked = iter([None] * (step - 1) + ["SIGTERM"])
    return lambda: next(asked)


@pytest.fixture(scope="module")
def whole(config: RunConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "whole"
    assert [step.step for step in train(config, out, device="cpu")] == list(range(1, 13))
    return out


@pytest.mark.parametrize("stop", [1, 5, 11])
def test_stopped_and_resumed_is_the_same_run(config: RunConfig, whole: Path, tmp_path: Path, stop: int) -> None:
    out = tmp_path / "run"
    said: list[str] = []
    with pytest.raises(Stopped) as end:
        list(train(config, out, device="cpu", stop=stops_at(stop), say=said.append))
    assert end.value.signal is signal.SIGTERM
    assert said == [f"SIGTERM: saved at step {stop} of 12"]
    list(train(config, out, device="cpu", resume=True))
    assert model_sha256(open_run(out).checkpoint("last")) == model_sha256(open_run(whole).checkpoint("last"))
    assert timeless(out) == timeless(whole)
    assert (out / "best").read_text() == (whole / "best").read_text()


@pytest.mark.parametrize(
    ("own", "other", "moments"), [("muon", "adamw", {"momentum_buffer"}), ("adamw", "muon", set())]
)
def test_any_optimizers_run_is_the_same_when_it_resumes(
    config: RunConfig, tmp_path: Path, own: str, other: str, moments: set[str]
) -> None:
    config = changed(config, {"train.optimizer": own, "train.steps": 8})
    list(train(config, tmp_path / "whole", device="cpu"))
    with pytest.raises(Stopped):
        list(train(config, tmp_path / "run", device="cpu", stop=stops_at(5)))
    kept = load_file(open_run(tmp_path / "run").checkpoint("last") / OPTIMIZER)
    assert {name.rpartition("/")[2] for name in kept} == {"exp_avg", "exp_avg_sq", "step"} | moments
    list(train(config, tmp_path / "run", device="cpu", resume=True))
    assert timeless(tmp_path / "run") == timeless(tmp_path / "whole")
    runs = (open_run(tmp_path / name) for name in ("run", "whole"))
    assert len({model_sha256(run.checkpoint("last")) for run in runs}) == 1
    with pytest.raises(RunError, match=f"begun with --optimizer {own}, not {other}"):
        list(train(changed(config, {"train.optimizer": other}), tmp_path / "run", device="cpu", resume=True))


def test_a_signal_in_the_last_step_finds_the_run_done(config: RunConfig, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    said: list[str] = []
    assert len(list(train(config, out, device="cpu", stop=stops_at(12), say=said.append))) == 12
    assert (said, (out / "summary.json").exists(), timeless(out)) == ([], True, timeless(whole))


@pytest.mark.parametrize("name", ["t5", "fire"])
def test_a_scheme_with_a_bias_is_trained_and_resumed_bit_for_bit(config: RunConfig, tmp_path: Path, name: str) -> None:
    biased = changed(config, {"model.position.name": name, "train.lr": 0.05})
    losses = [step.loss for step in train(biased, tmp_path / "whole", device="cpu")]
    assert losses[-1] < losses[0]
    with pytest.raises(Stopped):
        list(train(biased, tmp_path / "run", device="cpu", stop=stops_at(5)))
    list(train(biased, tmp_path / "run", device="cpu", resume=True))
    whole, run = (open_run(tmp_path / each).checkpoint("last") for each in ("whole", "run"))
    assert model_sha256(run) == model_sha256(whole)
    start = dict(DnaLM(biased.model, biased.train.seed).position_parameters())
    ended = open_run(tmp_path / "run").model("last").position_parameters()
    assert all(not torch.equal(start[each], ended[each]) for each in start), "every one of them has learned"


def test_the_authors_form_is_resumed_bit_for_bit(config: RunConfig, tmp_path: Path) -> None:
    theirs = changed(
        config, {"model.position.settings.form": "authors", "model.content": 59, "train.precision": "bf16"}
    )
    list(train(theirs, tmp_path / "whole", device="cpu"))
    with pytest.raises(Stopped):
        list(train(theirs, tmp_path / "run", device="cpu", stop=stops_at(5)))
    list(train(theirs, tmp_path / "run", device="cpu", resume=True))
    whole, run = (open_run(tmp_path / name).checkpoint("last") for name in ("whole", "run"))
    assert model_sha256(run) == model_sha256(whole)


def test_an_abandoned_run_goes_on_from_its_last_checkpoint(config: RunConfig, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    list(islice(train(config, out, device="cpu"), 8))  # checkpoints at 3, 4 (best), 6, 8 (perhaps)
    list(train(config, out, device="cpu", resume=True))
    assert timeless(out) == timeless(whole)
    assert model_sha256(open_run(out).checkpoint("last")) == model_sha256(open_run(whole).checkpoint("last"))


@pytest.mark.parametrize("harm", ["flip", "truncate", "missing", "state"])
def test_a_damaged_newest_checkpoint_is_passed_over(config: RunConfig, whole: Path, tmp_path: Path, harm: str) -> None:
    out = tmp_path / "run"
    said: list[str] = []
    list(islice(train(config, out, device="cpu"), 9))
    newest = present(out)[-1]
    victim = newest / (STATE if harm == "state" else "weights.safetensors")
    content = bytearray(victim.read_bytes())
    if harm == "missing":
        victim.unlink()
    else:
        content[len(content) // 2] ^= 1
        victim.write_bytes(content if harm != "truncate" else content[: len(content) // 2])
    list(train(config, out, device="cpu", resume=True, say=said.append))
    assert len(said) == 1 and str(newest) in said[0] and ("damaged" in said[0] or "half-written" in said[0])
    assert timeless(out) == timeless(whole)
    assert model_sha256(open_run(out).checkpoint("last")) == model_sha256(open_run(whole).checkpoint("last"))


def test_other_settings_do_not_resume(config: RunConfig, whole: Path) -> None:
    other = changed(config, {"train.lr": 0.5})
    with pytest.raises(RunError, match=r"begun with --lr 0.008, not 0.5; "):
        list(train(other, whole, device="cpu", resume=True))


def test_a_run_is_not_overwritten_unless_forced(config: RunConfig, whole: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds a run already"):
        list(train(config, whole, device="cpu"))
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="other things in it"):
        list(train(config, tmp_path, device="cpu", force=True))
    short = changed(config, {"train.steps": 2, "train.seed": 9})
    out = tmp_path / "run"
    with pytest.raises(Stopped):
        list(train(config, out, device="cpu", stop=stops_at(3)))
    list(train(short, out, device="cpu", force=True))
    assert read_json(out / "summary.json")["steps"] == 2


def test_a_finished_run_resumes_to_nothing(config: RunConfig, whole: Path) -> None:
    before = timeless(whole)
    assert list(train(config, whole, device="cpu", resume=True)) == []
    assert timeless(whole) == before


def test_keep_leaves_the_newest_and_the_best(whole: Path) -> None:
    validated = {row["step"]: row["val_nll"] for row in open_run(whole).metrics() if row["val_nll"] is not None}
    best = min(validated, key=lambda step: validated[step])
    assert open_run(whole).checkpoint("best").name == f"step-{best:06d}"
    assert {int(folder.name[5:]) for folder in present(whole)} == {best, 9, 12}
