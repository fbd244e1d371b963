"""How a model with memory leaves: as no folder unasked, as its transformer alone with the price, or whole."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import dnagoat
import dnagoat.evaluation.outputs.export.memory_cost as memory_cost
from dnagoat.config import Family, RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.outputs.export.arrive import import_model
from dnagoat.evaluation.outputs.export.memory_cost import MemoryCost
from dnagoat.evaluation.outputs.export.send import export
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.training.kept.run import Run, open_run
from dnagoat.training.loop import train
from dnagoat.training.presets import configure
from dnagoat_cli import app
from tests.counts.memory.genome import repetitive
from tests.training.conftest import SMALL


@pytest.fixture(scope="module")
def run(remembering: Callable[[tuple[Family, ...]], RunConfig], tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "memory"
    list(train(remembering(("words", "gaps", "copies")), out, device="cpu"))
    return open_run(out)


def test_it_is_no_folder_unasked(run: Run, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="give --without-memory"):
        export(run, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_transformer_alone_is_the_model_whose_memory_knows_nothing(run: Run, tmp_path: Path) -> None:
    left = export(run, tmp_path / "out", without_memory=True)
    cost = left.without_memory
    assert cost is not None and cost.without > cost.with_memory and cost.bases > 0
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert cost.sentence in card and f"{cost.without:.4f} nats a base on validation" in card
    back = import_model(tmp_path / "out", tmp_path / "back")
    assert back.config.model.memory == () and back.config.memory_tables is None

    whole, alone, codes = run.model(), back.model(), torch.randint(0, 4, (2, 40))
    assert whole.memory is not None
    with torch.inference_mode():
        blank = whole(codes, None, whole.memory.blank(2, 40, codes.device)).log_softmax(-1)
        torch.testing.assert_close(alone(codes).log_softmax(-1), blank, atol=2e-6, rtol=0)


def test_what_it_costs_is_what_evaluation_says(run: Run, repetitive_data: Dataset, tmp_path: Path) -> None:
    cost = export(run, tmp_path / "out", without_memory=True).without_memory
    back = import_model(tmp_path / "out", tmp_path / "back", repetitive_data.path)
    assert cost is not None
    for each, said in ((run, cost.with_memory), (back, cost.without)):
        found = dnagoat.evaluate(each, "nll", split="val", device="cpu", resamples=1000)["value"]
        assert math.isclose(found, said, rel_tol=1e-5)


def test_what_it_costs_is_measured_once(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = export(run, tmp_path / "first", without_memory=True)

    def measured_again(*_: object) -> object:
        raise AssertionError("it was measured again")

    monkeypatch.setattr(memory_cost, "_measure", measured_again)
    again = export(run, tmp_path / "again", without_memory=True)
    assert again.without_memory == first.without_memory
    assert (run.path / "evaluation" / "without-memory.json").exists()


def test_worse_than_a_guess_is_said_in_that_case_alone() -> None:
    assert "worse than a guess among four bases, 1.3863" in MemoryCost(1.2, 1.4046, [0.19, 0.21], 9).sentence
    said = MemoryCost(1.2, 1.38, None, 1).sentence
    assert "guess" not in said and said.endswith("on 1 validation base")


def test_without_a_validation_window_nobody_knows_what_it_costs(tmp_path: Path) -> None:
    contigs = {"a": repetitive(6000, 0), "test": repetitive(1000, 1)}
    (tmp_path / "g.fa").write_text("".join(f">{name}\n{''.join(bases)}\n" for name, bases in contigs.items()))
    data = prepare(tmp_path / "g.fa", tmp_path / "data", PrepareOptions(window=64, test=("test",)))
    options = {**SMALL, "model.memory": ("words",), "train.steps": 2, "train.warmup": 1}
    list(train(configure("tiny", str(data.path), data.content_hash, 64, options), tmp_path / "run", device="cpu"))
    words = ["export", str(tmp_path / "run"), str(tmp_path / "out"), "--without-memory"]
    never = CliRunner().invoke(app, words)
    assert never.exit_code == 2 and "was never validated" in never.stderr and "--checkpoint last" in never.stderr
    done = CliRunner().invoke(app, [*words, "--checkpoint", "last"])
    assert done.exit_code == 0 and "what that costs is not known" in done.stderr
    assert "Nothing was measured" in (tmp_path / "out" / "README.md").read_text()


def test_import_says_that_memory_needs_the_dataset(run: Run, repetitive_data: Dataset, tmp_path: Path) -> None:
    export(run, tmp_path / "x.safetensors", "safetensors")
    alone = CliRunner().invoke(app, ["import", str(tmp_path / "x.safetensors"), str(tmp_path / "alone")])
    assert alone.exit_code == 0 and "looks words up in its training split" in alone.stderr
    assert "give --dataset here" in alone.stderr
    asked = CliRunner().invoke(
        app, ["score", "sequences", str(tmp_path / "alone"), str(repetitive_data.path.parent / "genome.fa")]
    )
    assert asked.exit_code == 2 and asked.stderr.strip().endswith("say where it lies now with --dataset DATASET")
    words = ["import", str(tmp_path / "x.safetensors"), str(tmp_path / "whole"), "--dataset", str(repetitive_data.path)]
    assert CliRunner().invoke(app, words).stderr == ""


def test_in_one_file_it_is_whole_and_finds_its_tables_again(run: Run, repetitive_data: Dataset, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["export", str(run.path), str(tmp_path / "x.safetensors"), "--to", "safetensors"])
    assert done.exit_code == 0 and "GB of tables, which is not in the file: keep the dataset" in done.stderr
    back = import_model(tmp_path / "x.safetensors", tmp_path / "back", repetitive_data.path)
    assert back.config.memory_tables == run.config.memory_tables
    (own,), (again,) = (dnagoat.generate(each, ["ACGTACCA"], 30, temperature=0, device="cpu") for each in (run, back))
    assert own.bases == again.bases
    assert str(tmp_path) not in json.dumps(back.config.model.model_dump(mode="json"))
