"""Schemes with a bias as arms: compared, measured, switched off, drawn in their own colours, and generated from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dnagoat
from dnagoat.attention.schemes.registry import SCHEMES
from dnagoat.reporting.style import looks
from dnagoat.training.kept.run import open_run
from dnagoat_cli import app

ARMS = ("rope", "t5", "fire@width=8")
SMALL = {
    "model.width": 32, "model.heads": 4, "model.layers": 2, "model.mlp_width": 32,
    "train.eval_every": 2, "train.eval_windows": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("biased")
    dice = np.random.default_rng(3)
    with (folder / "genome.fa").open("w") as out:
        for name, length in (("a", 9000), ("b", 4000), ("c", 4000)):
            out.write(f">{name}\n{''.join(dice.choice(list('ACGTacgt'), length))}\n")
    data = dnagoat.prepare(folder / "genome.fa", folder / "data", window=64, val=("b",), test=("c",))
    result = dnagoat.compare(
        data,
        ARMS,
        folder / "cmp",
        seeds=1,
        preset="tiny",
        steps=4,
        batch_size=2,
        windows=20,
        device="cpu",
        settings=SMALL,
    )
    assert [row["name"] for row in result["arms"]] == ["rope", "t5", "fire"]
    assert [row["setting"] for row in result["arms"]] == list(ARMS)
    assert all(1 < row["splits"]["test"]["all"]["value"] < 2 for row in result["arms"])
    return folder / "cmp"


@pytest.mark.slow
def test_arms_have_priors_parts_colours_and_generate(compared: Path) -> None:
    for arm, folder in (("t5", "t5-s0"), ("fire", "fire-width-8-s0")):
        run = open_run(compared / folder)
        prior = dnagoat.evaluate(run, "prior", device="cpu")
        heads = [head for layer in prior["layers"] for head in layer["heads"]]
        assert len(heads) == 8 and any(len(set(head["log_prior"])) > 5 for head in heads)
        looked = CliRunner().invoke(app, ["inspect", str(run.path), "--windows", "4", "--device", "cpu"])
        assert looked.exit_code == 0, looked.output
        assert "bias" in looked.stdout
        assert looks({arm: arm, "rope": "rope"})[arm].colour == SCHEMES[arm].colours[0]
    written = dnagoat.generate(
        compared / "t5-s0", prompts=["ACGT"], length=80, device="cpu"
    )  # past the training length
    assert len(list(written)) == 1
    page = dnagoat.report([compared], compared / "report")
    shown = " ".join(file.read_text() for file in Path(compared / "report").glob("report.*") if file.suffix != ".json")
    assert page and "Where each head looks" in shown and "t5" in shown and "fire" in shown


def test_train_knows_the_scheme_and_its_options(compared: Path, tmp_path: Path) -> None:
    sizes = ["--preset", "tiny", "--steps", "2", "--batch-size", "2", "--eval-windows", "2", "--device", "cpu"]
    chosen = ["--position", "t5", "--t5-buckets", "8", "--t5-longest", "40"]
    data = str(compared.parent / "data")
    trained = CliRunner().invoke(app, ["train", data, *chosen, *sizes, "--out", str(tmp_path / "run")])
    assert trained.exit_code == 0, trained.output
    settings = open_run(tmp_path / "run").config.model.position.settings
    assert settings.leaves() == {"buckets": 8, "longest": 40}
    refused = CliRunner().invoke(app, ["train", data, "--position", "fire", "--t5-buckets", "8"])
    assert refused.exit_code == 2 and "t5-buckets belongs to t5, and fire has none" in refused.stderr
    text = CliRunner().invoke(app, ["train", "--help"]).stdout
    assert "--t5-buckets" in text and "--fire-width" in text
