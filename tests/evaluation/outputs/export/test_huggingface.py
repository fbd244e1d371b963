"""Whether an exported folder is the same model to transformers alone, for every scheme that is registered."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch.nn.functional import cross_entropy

import dnagoat
from dnagoat.config import PositionConfig
from dnagoat.evaluation.outputs.export.bundle import bundle
from dnagoat.evaluation.outputs.export.huggingface import LICENCE
from dnagoat.evaluation.outputs.export.send import export
from dnagoat.genome.alphabet import START
from dnagoat.model.transformer import DnaLM
from tests.evaluation.outputs.export.conftest import CONTEXT, MakeRun, models, sized

ROOT = Path(__file__).resolve().parents[4]
PROMPT, LENGTH = "ACGTTGCAACGGA", 60  # past the length of training
MODELS = models()


class Own(NamedTuple):
    """What dnagoat says itself."""

    written: str
    loss: float


@pytest.fixture(scope="module")
def both(
    bare: Path, make_run: MakeRun, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Own], dict[str, Any]]:
    """What dnagoat and a stranger say of each model."""
    folder, own = tmp_path_factory.mktemp("exported"), dict[str, Own]()
    for name, config in MODELS.items():
        run = make_run(tmp_path_factory.mktemp("runs") / name, config)
        export(run, folder / name.replace("+", "_").replace("-", "_"))
        codes = torch.randint(0, 4, (2, CONTEXT), generator=torch.Generator().manual_seed(3))
        codes[:, 0] = START
        with torch.inference_mode():
            logits = run.model()(codes)
        targets = codes[:, 1:].flatten()
        loss = cross_entropy(logits[:, :-1].flatten(0, 1), targets)
        (made,) = dnagoat.generate(run, [PROMPT], LENGTH, temperature=0, device="cpu")
        own[name] = Own(made.bases, float(loss))
        torch.save({"codes": codes, "logits": logits, "prompt": PROMPT, "length": LENGTH}, folder / f"{name}.pt")
    stranger = Path(__file__).with_name("stranger.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", stranger, bare, folder], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return own, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_stranger_has_the_same_model(both: tuple[dict[str, Own], dict[str, Any]], name: str) -> None:
    own, found = both[0][name], both[1][name]
    assert found["error"] <= 1e-6 and found["dtype"] == "torch.float32"
    assert found["written"] == own.written
    assert own.written.startswith(found["slowly"]) and len(found["slowly"]) == 12
    assert found["beams"][0] == found["beams"][1]
    assert found["loss"] == pytest.approx(own.loss, rel=1e-5)
    assert found["codes"] == [START] * (MODELS[name].classes == 4) + [0, 1, 2, 3, 3, 4, 4, 4]


@pytest.mark.slow
def test_what_was_compared_differs_from_model_to_model(both: tuple[dict[str, Own], dict[str, Any]]) -> None:
    texts = [own.written for own in both[0].values()]
    assert len(set(texts)) > len(texts) / 2 and sum(len(set(text)) > 1 for text in texts) > len(texts) / 2


def test_code_of_the_folder_is_ours_and_complete() -> None:
    """Every module of ours that a file imports is there; nothing asks for dnagoat, pydantic, or what is not needed."""
    files = bundle()
    source = (ROOT / "dnagoat" / "attention" / "layer.py").read_text(encoding="utf-8")
    body = source[source.index("def widened") :]
    assert body in files["dnagoat_attention_layer.py"]
    for name, text in files.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert f"{node.module}.py" in files, f"{name} imports {node.module}"
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not {"dnagoat", "pydantic", "numba"} & {module.split(".")[0] for module in modules}, name
    assert "\ntry:\n    import entmax" in files["dnagoat_attention_normalisers.py"]
    assert "\nimport entmax" in bundle(("entmax",))["dnagoat_attention_normalisers.py"]


@pytest.mark.parametrize("name", MODELS)
def test_no_module_keeps_numbers_to_itself(name: str) -> None:
    """transformers makes models without numbers and fills in parameters and buffers: any other tensor would be lost."""
    for module in DnaLM(MODELS[name], seed=None).modules():
        held = (value for key, value in vars(module).items() if key not in ("_parameters", "_buffers"))
        assert not any(isinstance(value, torch.Tensor) for value in held)


def test_licence_is_the_projects() -> None:
    assert LICENCE.read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_card_says_what_is_known_and_what_it_is_not_for(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", sized(PositionConfig(name="rope"), normaliser="entmax15"))
    export(run, tmp_path / "out")
    said = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    for part in (
        "# run",
        "rope",
        run.config.dataset_hash,
        "1.2500 nats a base on validation",
        "no test of path",
        "MIT",
    ):
        assert part in said
    assert "pip install entmax" in said and "elsewhere/" not in said
    said = (tmp_path / "out" / "config.json").read_text(encoding="utf-8")
    assert "elsewhere/" not in said and json.loads(said)["dnagoat"]["dataset"] == "genome"
