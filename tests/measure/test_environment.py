"""`dnagoat info` tells what runs here: the kernels that it names are those that a model accepts."""

from __future__ import annotations

import json

import pytest
import torch
from typer.testing import CliRunner

from dnagoat.attention.kernels import refuse_kernel
from dnagoat.errors import MissingError
from dnagoat.measure.environment import environment
from dnagoat_cli import app


@pytest.mark.parametrize("name", ["sdpa", "flash", "dense"])
def test_kernels_are_told_as_they_are(name: str) -> None:
    fault = environment()["kernels"][name]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if fault is None:
        refuse_kernel(name, device)
    else:
        with pytest.raises(MissingError, match=f"kernel {name} cannot be used here"):
            refuse_kernel(name, device)


def test_devices_are_torchs_own() -> None:
    facts = environment()
    _, *gpus = facts["devices"]
    assert [gpu["name"] for gpu in gpus] == [torch.cuda.get_device_name(index) for index in range(len(gpus))]
    assert len(gpus) == torch.cuda.device_count()
    assert facts["packages"]["torch"] == torch.__version__


def test_info_is_a_table_or_json() -> None:
    told = CliRunner().invoke(app, ["info", "--json"])
    assert told.exit_code == 0
    facts = json.loads(told.output)
    assert facts == {**environment(), "self_test": None}
    table = CliRunner().invoke(app, ["info"]).output
    assert torch.__version__ in table
    assert "flash" in table
