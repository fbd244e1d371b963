"""The commands of a report make the very same dataset and train the very same configuration again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dnagoat.config import MomentumConfig, RunConfig
from dnagoat.genome.dataset import open_dataset
from dnagoat.genome.preparation import command as preparing
from dnagoat.reporting.commands import training
from dnagoat.reporting.sources import read_runs
from dnagoat.training.presets import configure
from dnagoat_cli import app
from tests.reporting import example

GOAT = "model.position.settings."
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "rope": ("tiny", {"model.position.name": "rope", "train.steps": 7, "train.seed": 3}),
    "parts and periods": (
        "tiny",
        {GOAT + "parts": ("spectral", "recency"), GOAT + "periods": (3.0, 10.5, 171.0), GOAT + "rank": 3},
    ),
    "distances": (
        "tiny",
        {
            GOAT + "init": "distances",
            GOAT + "amplitude": 0.5,
            "model.heads": 2,
            GOAT + "distances": ((1, 2), (1, 4), (1, 8), (2, 9)),
        },
    ),
    "the authors' form, as much content": ("tiny", {GOAT + "form": "authors", "model.content": 27}),
    "our form of the authors' run": ("paper", {GOAT + "form": "own"}),
    "recency alone": ("tiny", {GOAT + "parts": ("recency",), GOAT + "init": "uniform"}),
    "learnt periods": ("tiny", {GOAT + "learn_periods": True}),
    "biases and heads": ("tiny", {"model.position.name": "rope+bias", GOAT + "init": "distances", "model.heads": 2}),
    "muon": ("tiny", {"train.optimizer": "muon", "train.lr": 0.002}),
    "gate": ("tiny", {"model.position.gate": True}),
    "recipe": ("tiny", {"train.recipe": "goat", "train.warmup": 40, "train.schedule": "cosine"}),
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


BED = "pieces.bed"


@pytest.mark.parametrize(
    "words",
    [
        "source.fa --val b --test c --window 64 --stride 32 --max-n 0.25",
        "source.fa --split-blocks --window 100 --gaps drop",
        f"source.fa --regions {BED} --window 50 --val b --test c",
        "demo --window 2048",
        "demo --window 2048 --all-contigs --val chr21_36000000_37000000",
        "demo --window 4096 --split-blocks",
    ],
)
def test_the_command_makes_the_same_dataset(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bases = np.random.default_rng(0).choice(list("ACGTN"), 6000, p=[0.28, 0.2, 0.2, 0.28, 0.04])
    parts = {"a": bases[:3000], "b": bases[3000:4500], "c": bases[4500:]}
    gap = "-" if "--gaps" in words else ""
    Path("source.fa").write_text("".join(f">{name}\n{''.join(part)}{gap}\n" for name, part in parts.items()))
    Path(BED).write_text("a\t100\t2900\nb\t0\t900\nc\t10\t1400\n")
    assert CliRunner().invoke(app, ["prepare", *words.split(), "--out", "first"]).exit_code == 0
    first = open_dataset(Path("first"))
    said = preparing(first.manifest.sources, first.manifest.rules, "second")
    assert said is not None
    result = CliRunner().invoke(app, shlex.split(said)[1:])
    assert result.exit_code == 0, result.output
    second = open_dataset(Path("second"))
    assert (second.content_hash, second.manifest.rules) == (first.content_hash, first.manifest.rules)


def test_a_genome_of_ones_own_catalogue_has_no_command(tmp_path: Path) -> None:
    manifest = example.dataset(tmp_path / "data").manifest
    assert preparing([manifest.sources[0].but(assembly="mine")], manifest.rules, "out") is None


def _weights(config: RunConfig) -> dict[str, Any]:
    """What trained weights depend on: not how often they are saved, nor what a part that is left out would be."""
    return config.model_dump(mode="json", exclude={"train": {"checkpoint_every", "keep", "micro_batch"}})
