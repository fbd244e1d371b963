"""Models of every scheme with weights that matter, as runs and as exports, and a Python that has only transformers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from packaging.requirements import Requirement

from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig, RunConfig
from dnagoat.files import write_json
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run, open_run

CONTEXT = 64
HASH = "ab" * 32
BARE = ("torch", "numpy", "safetensors", "transformers")

MakeRun = Callable[[Path, ModelConfig], Run]


def sized(position: PositionConfig, **more: object) -> ModelConfig:
    return ModelConfig(
        **{"width": 96, "heads": 2, "layers": 2, "mlp_width": 64, "context": CONTEXT, "position": position, **more}
    )


def models() -> dict[str, ModelConfig]:
    """Every registered scheme with all settings that its own proof is made for, and what goes around a scheme."""
    found: dict[str, ModelConfig] = {}
    for name, scheme in SCHEMES.items():
        for number, settings in enumerate(scheme.settings.proofs):
            found[f"{name}-{number}"] = sized(PositionConfig(name=name, settings=dict(settings)))
    goat = PositionConfig(name="goat")
    around: dict[str, Any] = {"momentum": MomentumConfig(strength=0.7, ramp_steps=4), "convolution": 3}
    for key, value in around.items():
        for name in ("rope", "goat", "t5"):
            found[f"{name}-{key}"] = sized(PositionConfig(name=name, **{key: value}))
    found["gate"] = sized(goat.but(gate=True))
    found["momentum-in-one-layer"] = sized(goat.but(momentum=MomentumConfig(strength=1, layers=(1,))))
    found["content"] = sized(goat, content=48)
    found["five-classes"] = sized(goat, classes=5)
    found["dense"] = sized(goat, kernel="dense")
    return found


@pytest.fixture(scope="session")
def make_run() -> MakeRun:
    """A run with a checkpoint of step 7 whose weights are far from their start, position parameters too."""

    def make(path: Path, model: ModelConfig) -> Run:
        config = RunConfig(model=model, dataset="elsewhere/genome", dataset_hash=HASH, tool_version="0.1.0")
        write_json(path / "config.json", config.model_dump(mode="json"))
        made, dice = DnaLM(model, 1), torch.Generator().manual_seed(2)
        with torch.no_grad():
            for name, parameter in made.named_parameters():  # a large embedding would only repeat what it read
                sd = 0.02 if name == "embedding.weight" else 0.5
                parameter.add_(sd * torch.randn(parameter.shape, generator=dice))
        made.constrain()
        made.set_step(7)
        state = TrainingState(step=7, bases=7 * CONTEXT, best_step=7, best_val_nll=1.25, val_nll=1.25)
        save(path, Checkpoint(state, weights_of(made)), keep=1)
        return open_run(path)

    return make


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages: torch, numpy, safetensors, transformers and what they require, and nothing else."""
    if find_spec("transformers") is None:
        pytest.skip("needs transformers (`pip install dnagoat[dev]`)")
    there = {_key(one.metadata["Name"]): one for one in distributions()}
    folder = tmp_path_factory.mktemp("bare")
    for name in _required(there):
        for top in {file.parts[0] for file in there[name].files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(there[name].locate_file(top))))
    return folder


def _required(there: dict[str, Distribution]) -> set[str]:
    waiting, found = list(BARE), set[str]()
    while waiting:
        name = waiting.pop()
        if name in found or name not in there:
            continue
        found.add(name)
        needs = (Requirement(need) for need in there[name].requires or ())
        waiting += [_key(need.name) for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    assert sys.modules.get("dnagoat") is not None and "dnagoat" not in found
    return found


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
