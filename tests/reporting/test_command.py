"""`dnagoat report` and `dnagoat demo` from end to end, on models so small that nothing is learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dnagoat_cli import app, demonstration
from tests.reporting import example


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo that has run, in miniature."""
    folder = tmp_path_factory.mktemp("demo")
    small = {"SCORED": 4, "PROMPTS": 2, "SAMPLES": 1, "LENGTH": 128, "LENGTHS": ("1x",), "BATCH": 1}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in small.items():
            patch.setattr(demonstration, name, value)
        first = call("demo", "--folder", folder, "--steps", 2)
        assert first.exit_code == 0, first.output
        page = folder / "reports" / "demo" / "report.html"
        assert str(page) in first.output.replace("\n", "")
        assert "What so short a training can show" in first.output
        written = page.read_bytes()
        again = call("demo", "--folder", folder, "--steps", 2)
        assert again.exit_code == 0, again.output
        assert page.read_bytes() == written, "a demo that is complete is shown again, not made again"
        other = call("demo", "--folder", folder, "--steps", 3)
        assert other.exit_code == 2 and "--force begins the demo again" in other.output
    return folder


@pytest.mark.slow
def test_the_demo_leaves_data_runs_sequences_and_a_report(shown: Path) -> None:
    for arm in demonstration.ARMS:
        run = shown / "runs" / "demo" / arm
        config = json.loads((run / "config.json").read_text())
        assert config["model"]["position"]["name"] == arm.partition("@")[0] and config["train"]["seed"] == 0
        assert bool(config["model"]["memory"]) == arm.endswith("@memory")
        assert (run / "generated" / "demo.fa").read_text().startswith(">")
    found = json.loads((shown / "reports" / "demo" / "results.json").read_text())
    assert "1.31 nats per base" in found["verdict"]["remarks"][0] and "1.254" in found["verdict"]["remarks"][0]
    rows = {row["head"]: row for row in found["tables"]["results"]["rows"]}
    assert set(rows) == {"rope", "goat", "goat (memory)"} and rows["goat"]["difference"]["low"] is not None


@pytest.mark.slow
def test_report_reads_what_is_stored_and_refuses_to_overwrite(shown: Path, tmp_path: Path) -> None:
    runs = [shown / "runs" / "demo" / position for position in demonstration.ARMS]
    stored = {file: file.stat().st_mtime_ns for run in runs for file in (run / "evaluation").iterdir()}
    made = call("report", *runs, "--out", tmp_path / "mine", "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["runs"][1]["arm"] == "goat"
    assert {file: file.stat().st_mtime_ns for file in stored} == stored, "nothing was computed again"
    refused = call("report", *runs, "--out", tmp_path / "mine")
    assert refused.exit_code == 2 and "already holds a report" in refused.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "is not a folder"),
        (["{run}", "--skip", "sleep"], "--skip sleep: choose from"),
        (["{run}", "--bench", "none.json"], "is not there; give the file that `dnagoat bench --out` wrote"),
    ],
)
def test_a_fault_is_one_sentence_and_leaves_nothing(tmp_path: Path, words: list[str], said: str) -> None:
    run = example.run(tmp_path / "run", example.config("rope"), 1.3)
    skips = [
        word for name in ("nll", "strata", "lengths", "prior", "generation", "leakage") for word in ("--skip", name)
    ]
    words = [word.format(run=run) for word in words] + ([] if "--skip" in words else skips)
    result = call("report", *words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.output.count("\n") == 1 and said in result.output
    assert not (tmp_path / "out").exists()
