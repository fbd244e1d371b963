"""Terminals that lack letters, and narrow ones: everything that is shown can be read there, and nothing fails."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dnagoat.files import read_json
from dnagoat.genome.fetch.assemblies import catalogue
from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat.reporting.document import Report
from dnagoat.reporting.sources import Results
from dnagoat_cli import app
from dnagoat_cli.terminal.letters import PLAIN, fit_streams, json_text
from tests.genome.small import fasta, random_bases
from tests.reporting import crowd, example

Shown = Callable[..., str]
DRAWN = ("nll", "strata", "lengths", "copying")  # in example runs as evaluate writes them
Views = dict[str, Callable[[], object]]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What a call shows on a terminal of this encoding and width, standard output and error together."""

    def show(call: Callable[[], object], encoding: str = "utf-8", columns: int = 100) -> str:
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
        monkeypatch.setenv("COLUMNS", str(columns))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            fit_streams()
            call()
            stream.flush()
        return raw.getvalue().decode(encoding)

    return show


@pytest.fixture(scope="module")
def views(
    whole: Report, crowded: Report, results: Results, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Callable[[], object]]:
    """Everything that draws tables, on results with every measure."""
    from dnagoat.measure.environment import environment
    from dnagoat_cli.commands.inspect import Request
    from dnagoat_cli.terminal import datasets, show

    folder = tmp_path_factory.mktemp("views")
    compared = read_json(example.comparison(folder / "compared") / "comparison.json")
    said = {
        "verdict": {"sentence": "It is."},
        "mean_context": 512.0,
        "context": 1024,
        "stride": 1024,
        "accuracy": 0.4,
        "count": 900,
    }
    measured = [
        ({**said, **result}, Path("runs/x.json"))
        for run in results.runs
        for result in run.measures.values()
        if result["measure"] in DRAWN
    ]
    bench = crowd.bench(["rope", "goat", "alibi", "nope"])
    source = folder / "genome.fa"
    bases = {f"contig_with_a_long_name_{number}_of_the_assembly": random_bases(3000, number) for number in range(4)}
    names = list(bases)
    source.write_text(fasta({**bases, "short": bases[names[1]][:1500] + random_bases(1500, 9)}))
    dataset = prepare(
        source, folder / "data", PrepareOptions(window=64, overlaps="trim", val=(names[1],), test=(names[2],))
    )
    return {
        "report": lambda: show.show_report(whole, Path("report.html")),
        "crowded": lambda: show.show_report(crowded, Path("report.html")),
        "compare": lambda: show.show_comparison(compared, folder / "compared", False),
        "compare-all": lambda: show.show_comparison(compared, folder / "compared", False, every=True),
        "evaluate": lambda: show.show_results(measured, False),
        "bench": lambda: show.show_benchmark(bench, None, False),
        "info": lambda: show.show_environment(environment()),
        "inspect": lambda: datasets.inspect_dataset(dataset.path, Request(True, True, None, False)),
        "catalogue": lambda: datasets.show_catalogue(dict(catalogue()), False),
    }


VIEWS = ("report", "crowded", "compare", "compare-all", "evaluate", "bench", "info", "inspect", "catalogue")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_view_is_shown_in_every_encoding(views: Views, shown: Shown, view: str, encoding: str) -> None:
    text = shown(views[view], encoding)
    assert text.strip() and "?" not in text.replace("?\n", "\n").replace("? ", " ")
    if encoding == "ascii":
        assert text.isascii()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("columns", [40, 60])
def test_every_view_fits_a_narrow_terminal(views: Views, shown: Shown, view: str, columns: int) -> None:
    """Lines that the terminal itself wraps (sentences, paths) may be longer; no table is, and nothing is cut."""
    text, wide = shown(views[view], columns=columns), shown(views[view], columns=400)
    assert too_wide(text, columns) == []
    assert text.count("…") == wide.count("…")
    missing = {word for word in numbers(wide) if word not in "".join(text.split())}
    assert not missing


def too_wide(text: str, columns: int) -> list[str]:
    """Lines of tables and bars past the edge; a sentence or a path begins its line and is wrapped by the terminal."""
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if len(line) > columns and "   " in line and "sha256" not in line]


def numbers(text: str) -> set[str]:
    """Numbers of a table: whole where they fit a line."""
    return {word for word in text.split() if any(letter.isdigit() for letter in word) and len(word) < 12}


def commands(group: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    inner = getattr(group, "commands", {})
    return [path, *(found for name, command in inner.items() for found in commands(command, (*path, name)))]


@pytest.mark.parametrize("words", commands(typer.main.get_command(app)), ids=" ".join)
def test_help_is_shown_where_letters_lack(words: tuple[str, ...]) -> None:
    result = CliRunner(charset="ascii").invoke(app, [*words, "--help"])
    assert result.exit_code == 0 and result.exception is None
    assert result.stdout.isascii() and "Usage" in result.stdout


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("locale", [ASCII, {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}], ids=["C", "latin-1"])
def test_the_command_itself_in_another_locale(locale: dict[str, str], tmp_path: Path) -> None:
    """Names that are no ASCII, of contigs and of folders: read, kept in UTF-8, and shown."""
    folder = tmp_path / "dé漢"
    folder.mkdir()
    (folder / "a.fa").write_text(fasta({"chr1é": random_bases(3000), "chr2": random_bases(900, 1)}), encoding="utf-8")
    environment = {**os.environ, **locale}
    command = [sys.executable, "-m", "dnagoat_cli", "prepare", str(folder / "a.fa"), "--out", str(folder / "data")]
    command += ["--window", "50", "--val", "chr2", "--all-contigs", "--bed"]
    made = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert made.returncode == 0 and b"Traceback" not in made.stderr, made.stderr
    looked = [sys.executable, "-m", "dnagoat_cli", "inspect", str(folder / "data"), "--json"]
    seen = subprocess.run(looked, capture_output=True, env=environment, check=True)
    assert json.loads(seen.stdout.decode("latin-1"))["tally"]["bases"] == 3900
    manifest = json.loads((folder / "data" / "manifest.json").read_bytes().decode("utf-8"))
    assert manifest["contigs"][0]["name"] == "chr1é"


def test_json_says_the_same_in_any_encoding() -> None:
    value = {"name": "chr1é", "cells": "█"}
    assert json_text(value, "ascii").isascii() and "é" in json_text(value, "utf-8")
    assert json.loads(json_text(value, "ascii")) == json.loads(json_text(value, "latin-1")) == value


def test_plain_letters_keep_their_place() -> None:
    assert all(plain.isascii() and plain.isprintable() for plain in PLAIN.values())
    assert {letter for letter, plain in PLAIN.items() if len(plain) != 1} == {"…"}
    assert "█▓▒ é – \udcff".encode("ascii", errors="dnagoat-letters") == b"#=o e - ?"
