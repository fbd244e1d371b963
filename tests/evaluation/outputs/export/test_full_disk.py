"""A full disk under export and import: one sentence with the name that was to be, and nothing half-written."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dnagoat.config import PositionConfig
from dnagoat.evaluation.outputs.export.send import export
from dnagoat_cli import app
from tests.evaluation.outputs.export.conftest import MakeRun, sized
from tests.full_disk import no_file_above


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("export {run} {out}", 100_000),  # weights
        ("export {run} {out}", 1_000),  # code
        ("export {run} {out}.safetensors --to safetensors", 100_000),
        ("import {whole} {out}", 100_000),
    ],
)
def test_it_is_one_sentence(make_run: MakeRun, tmp_path: Path, words: str, most: int) -> None:
    run = make_run(tmp_path / "run", sized(PositionConfig(name="alibi")))
    export(run, tmp_path / "whole")
    before = sorted(tmp_path.iterdir())
    asked = words.format(run=run.path, whole=tmp_path / "whole", out=tmp_path / "out").split()
    with no_file_above(most):
        done = CliRunner().invoke(app, asked)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert done.stderr == f"error: {asked[2]}: File too large; give another place, or make room there\n"
    assert sorted(tmp_path.iterdir()) == before
    assert CliRunner().invoke(app, asked).exit_code == 0
    plain, made = tmp_path / "plain", Path(asked[2])
    plain.touch()  # safetensors itself makes files for their owner alone
    files = [made] if made.is_file() else made.rglob("*.safetensors")
    assert {file.stat().st_mode for file in files} == {plain.stat().st_mode}
