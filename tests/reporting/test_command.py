"""`dnagoat report` and `dnagoat demo` from end to end, on models so small that nothing is learned."""

from __future__ import annotations

import json
import shlex
import sys
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
    small = {"SCORED": 4, "PARTS": 2, "PROMPTS": 2, "SAMPLES": 1, "LENGTH": 128, "LENGTHS": ("1x",), "BATCH": 1}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in small.items():
            patch.setattr(demonstration, name, value)
        first = call("demo", "--folder", folder, "--steps", 2)
        assert first.exit_code == 0, first.output
        page = folder / "reports" / "demo" / "report.html"
        assert first.output.splitlines()[-1] == f"The page: {page}"
        tried = first.output.partition("Three commands to try next")[2].splitlines()[1:4]
        assert "What so short a training can show" in first.output
        written = page.read_bytes()
        again = call("demo", "--folder", folder, "--steps", 2)
        assert again.exit_code == 0, again.output
        assert page.read_bytes() == written, "a demo that is complete is shown again, not made again"
        other = call("demo", "--folder", folder, "--steps", 3)
        assert other.exit_code == 2 and "--force begins the demo again" in other.output
    for command in tried:  # works as it is typed
        words = shlex.split(command)
        place = next(place for place, word in enumerate(words) if word in ("generate", "inspect", "compare"))
        made = call(*words[place:])
        assert made.exit_code == 0, f"{command}\n{made.output}"
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


@pytest.mark.parametrize("browser", [True, False])
def test_open_shows_the_page_or_says_that_there_is_no_browser(
    tmp_path: Path, browser: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or browser)  # type: ignore[func-returns-value]
    demonstration.open_page(demonstration.plan(tmp_path, None))
    assert opened == [(tmp_path / "reports" / "demo" / "report.html").as_uri()]
    assert ("There is no browser" in capsys.readouterr().err) != browser


@pytest.mark.parametrize(
    ("called", "found", "said"),
    [
        ("/opt/bin/dnagoat", "/opt/bin/dnagoat", "dnagoat"),
        (".venv/bin/dnagoat", None, ".venv/bin/dnagoat"),
        (".venv/bin/dnagoat", "/opt/bin/dnagoat", ".venv/bin/dnagoat"),
        ("my place/dnagoat", None, "'my place/dnagoat'"),
        ("/lib/dnagoat_cli/__main__.py", None, f"{sys.executable} -m dnagoat_cli"),
    ],
)
def test_commands_to_try_call_the_program_as_it_was_called(
    called: str, found: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [called, "demo"])
    monkeypatch.setattr("shutil.which", lambda name: found)
    assert demonstration.program() == said


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
