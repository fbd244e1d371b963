"""`dnagoat info`: what it says of the machine, and that a missed bar ends with exit code 1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from dnagoat.attention.proof import parity
from dnagoat.attention.proof.parity import Parity
from dnagoat.measure.environment import environment
from dnagoat_cli import app


def test_facts_of_this_machine() -> None:
    facts = environment()
    assert facts["packages"]["torch"] == version("torch")
    assert facts["devices"][0]["device"] == "cpu" and facts["devices"][0]["cores"] >= 1
    assert facts["kernels"]["sdpa"] is None and set(facts["kernels"]) == {"sdpa", "flash", "dense"}
    assert facts["packages"]["flash-attn"] is None or facts["packages"]["flash-attn"] != ""


def test_info_draws_and_speaks_json() -> None:
    drawn = CliRunner().invoke(app, ["info"])
    assert drawn.exit_code == 0 and "Attention kernels" in drawn.stdout
    spoken = CliRunner().invoke(app, ["info", "--json"])
    assert json.loads(spoken.stdout)["self_test"] is None


def test_info_shows_the_driver_and_what_torch_is_built_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dnagoat.measure.environment.nvidia_driver", lambda: "535.104.05")
    monkeypatch.setattr("torch.version.cuda", "13.0")
    monkeypatch.setattr("dnagoat.measure.environment.idle_gpu", lambda: "there is a GPU that torch cannot use")
    drawn = " ".join(CliRunner().invoke(app, ["info"]).stdout.split())
    assert "NVIDIA driver 535.104.05 torch is built for CUDA 13.0" in drawn
    assert "there is a GPU that torch cannot use" in drawn


@pytest.mark.parametrize(("error", "code"), [(1e-7, 0), (1.0, 1)])
def test_the_self_test_decides_the_exit_code(error: float, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def stub(device: str, length: int) -> Iterator[Parity]:
        yield Parity("rope", "forward", "float32", "sdpa", length, error, 2e-6)

    monkeypatch.setattr(parity, "parities", stub)
    drawn = CliRunner().invoke(app, ["info", "--self-test", "--device", "cpu", "--length", "32"])
    assert drawn.exit_code == code
    assert ("all held" if code == 0 else "1 of 1 missed") in drawn.stdout
    spoken = CliRunner().invoke(app, ["info", "--self-test", "--device", "cpu", "--json"])
    assert spoken.exit_code == code
    assert [row["held"] for row in json.loads(spoken.stdout)["self_test"]] == [code == 0]
