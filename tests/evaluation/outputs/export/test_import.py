"""Whether exported weights come back as the run that they were, and whether anything else is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

import dnagoat
from dnagoat.config import PositionConfig
from dnagoat.errors import DatasetError, RunError
from dnagoat.evaluation.outputs.export.arrive import import_model
from dnagoat.evaluation.outputs.export.send import export
from dnagoat.files import read_json, write_json
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import Run
from dnagoat_cli import app
from tests.evaluation.outputs.export.conftest import MakeRun, models, sized


@pytest.fixture
def run(make_run: MakeRun, tmp_path: Path) -> Run:
    return make_run(tmp_path / "run", sized(PositionConfig(name="alibi")))


@pytest.mark.parametrize("name", ["goat-0", "t5-momentum", "goat-convolution", "five-classes", "alibi-0"])
def test_both_forms_come_back_as_the_same_weights(make_run: MakeRun, tmp_path: Path, name: str) -> None:
    run = make_run(tmp_path / "run", models()[name])
    export(run, tmp_path / "folder")
    export(run, tmp_path / "one.safetensors", "safetensors")
    for place in ("folder", "one.safetensors"):
        back = import_model(tmp_path / place, tmp_path / f"back-{place}")
        assert back.config.model == run.config.model and back.config.train == run.config.train
        assert back.config.dataset_hash == run.config.dataset_hash
        for which in ("best", "last"):
            assert model_sha256(back.checkpoint(which)) == model_sha256(run.checkpoint("best"))
    (own,), (again,) = (dnagoat.generate(each, ["ACGTA"], 20, temperature=0, device="cpu") for each in (run, back))
    assert own.bases == again.bases


def test_weights_in_several_files_and_in_half_precision_are_read(run: Run, tmp_path: Path) -> None:
    """What transformers makes of a large model that it saves."""
    export(run, tmp_path / "out")
    weights = load_file(tmp_path / "out" / "model.safetensors")
    (tmp_path / "out" / "model.safetensors").unlink()
    names = sorted(weights)
    files = {name: f"model-0000{1 + place % 2}-of-00002.safetensors" for place, name in enumerate(names)}
    for file in set(files.values()):
        part = {name: weights[name].half() for name in names if files[name] == file}
        save_file(part, tmp_path / "out" / file, {"format": "pt"})
    write_json(tmp_path / "out" / "model.safetensors.index.json", {"weight_map": files})
    back = import_model(tmp_path / "out", tmp_path / "back").model()
    for (_, mine), (_, theirs) in zip(run.model().named_parameters(), back.named_parameters(), strict=True):
        torch.testing.assert_close(mine.half().float(), theirs)


Spoil = Callable[[Path], None]


def _config(**changes: Any) -> Spoil:
    def spoil(folder: Path) -> None:
        config = read_json(folder / "config.json")
        config["dnagoat"] |= changes
        write_json(folder / "config.json", config)

    return spoil


def _weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Spoil:
    def spoil(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors", {"format": "pt"})

    return spoil


def _pickle(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({}))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "config.json").unlink(), "holds no config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), "is no JSON"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "gpt2"}'), "of another model"),
        (_config(format=9), "has format 9"),
        (_config(model=None), "cannot read"),
        (_config(model={"width": 3}), "cannot read"),
        (_pickle, r"pytorch_model.bin is a pickle"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x"), "cannot be read as safetensors"),
        (_weights(lambda weights: weights.pop("model.norm.weight")), "norm.weight does not fit"),
        (_weights(lambda weights: weights.update(more=torch.zeros(1))), "more does not fit"),
        (_weights(lambda weights: weights.update({"model.norm.weight": torch.zeros(3)})), "has shape"),
        (_weights(lambda weights: weights["model.norm.weight"].fill_(float("nan"))), "holds infinities"),
    ],
)
def test_what_is_damaged_is_refused_in_one_sentence(run: Run, tmp_path: Path, spoil: Spoil, said: str) -> None:
    export(run, tmp_path / "out")
    spoil(tmp_path / "out")
    with pytest.raises(RunError, match=said) as fault:
        import_model(tmp_path / "out", tmp_path / "back")
    assert "\n" not in str(fault.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


def test_no_code_of_the_folder_is_run(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path / "out")
    for file in (tmp_path / "out").glob("*.py"):
        file.write_text("raise SystemExit('this ran')")
    import_model(tmp_path / "out", tmp_path / "back")


def test_other_things_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(pickle.dumps({}))
    save_file({"x": torch.zeros(1)}, tmp_path / "b.safetensors")
    for path, said in (
        (tmp_path / "gone", "is not there"),
        (tmp_path / "a.bin", "is a pickle"),
        (tmp_path / "b.safetensors", "says nothing of dnagoat"),
        (run.path, "is a run already"),
    ):
        with pytest.raises(RunError, match=said):
            import_model(path, tmp_path / "back")
    export(run, tmp_path / "out")
    with pytest.raises(DatasetError, match="is no dataset"):
        import_model(tmp_path / "out", tmp_path / "back", tmp_path)


def test_nothing_that_is_there_is_replaced_unasked(run: Run, tmp_path: Path) -> None:
    def asked(*words: object) -> str:
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code in (0, 2), done.output
        return "" if done.exit_code == 0 else done.stderr

    out, one = tmp_path / "out", tmp_path / "one.safetensors"
    assert asked("export", run.path, out) == "" and asked("export", run.path, one, "--to", "safetensors") == ""
    assert "--force to replace" in asked("export", run.path, out)
    assert "--force to replace" in asked("export", run.path, one, "--to", "safetensors")
    assert asked("export", run.path, out, "--force") == ""
    assert "other things in it" in asked("export", run.path, run.path, "--force")
    assert "ends in .safetensors" in asked("export", run.path, tmp_path / "x", "--to", "safetensors")
    assert "there are hf and safetensors" in asked("export", run.path, tmp_path / "x", "--to", "onnx")
    assert "no memory to leave out" in asked("export", run.path, tmp_path / "x", "--without-memory")
    assert asked("import", out, tmp_path / "back") == ""
    assert "is there already" in asked("import", out, tmp_path / "back")
    for words in (("import", out, "/dev/null"), ("export", run.path, "/dev/null")):
        assert "OUT /dev/null is no folder" in asked(*words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "one.safetensors", "out", "run"]


def test_the_single_file_says_what_it_is(run: Run, tmp_path: Path) -> None:
    from safetensors import safe_open

    export(run, tmp_path / "one.safetensors", "safetensors")
    with safe_open(tmp_path / "one.safetensors", "pt") as opened:
        record = json.loads(opened.metadata()["dnagoat"])
    assert record["model"]["position"]["name"] == "alibi" and record["sha256"] == model_sha256(run.checkpoint())
    assert record["dataset"] == "genome" and str(tmp_path) not in json.dumps(record)
