"""Whether what README.md tells people to type exists: every `dnagoat` line in its shell blocks is parsed by the CLI."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from dnagoat.genome.preparation import PrepareOptions, prepare
from dnagoat_cli import app
from tests.genome.small import fasta, random_bases

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXPERIMENTS = sorted({*(ROOT / "experiments").glob("*.md")} - {ROOT / "experiments" / "README.md"})
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "experiments").glob("*.md")]


def shell_lines() -> list[str]:
    """The command lines of all pages' ```sh blocks, continued lines joined, comments left out."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(PAGES))
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def dnagoat_arguments(line: str) -> list[str] | None:
    """What follows the program's (or the image's) name in a line that runs it, as the shell would split it."""
    words = shlex.split(line, comments=True)
    if words[0] == "docker" and words[1] == "run":
        program = "dnagoat_cli" if "--entrypoint" in words else "dnagoat"  # of torchrun it is the module
        return words[words.index(program) + 1 :]
    return words[1:] if words[0] == "dnagoat" else None


# A command that is shown twice is tried once; what README's table names is tried too.
LINES = dict.fromkeys([*shell_lines(), *re.findall(r"`(dnagoat [^`]+)`", README)])
RUNS = [(line, arguments) for line in LINES if (arguments := dnagoat_arguments(line)) is not None]


@pytest.mark.parametrize("arguments", [arguments for _, arguments in RUNS], ids=[line for line, _ in RUNS])
def test_command_exists_with_these_options(arguments: list[str]) -> None:
    command = typer.main.get_command(app)
    try:
        context = command.make_context("dnagoat", list(arguments))
        while hasattr(command, "resolve_command"):
            name, command, arguments = command.resolve_command(context, arguments)
            # Parsed, not run: an option or a value that the command does not know is a UsageError.
            context = command.make_context(name, list(arguments), parent=context)
    except typer.Exit as end:  # --help prints and ends
        assert end.exit_code == 0


def test_the_two_commands_of_the_first_screen() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    wanted = {line.split()[1] for line in shell_lines() if line.startswith("make ")}
    assert {"demo", "test"} <= wanted <= targets


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.name)
def test_pictures_and_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_readme_is_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= 160


def test_every_experiment_is_in_the_index() -> None:
    index = (ROOT / "experiments" / "README.md").read_text(encoding="utf-8")
    assert all(f"]({page.name})" in index for page in EXPERIMENTS)


@pytest.mark.parametrize("page", EXPERIMENTS, ids=lambda page: page.stem)
def test_index_repeats_each_experiments_head(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    head = dict(re.findall(r"^\| (date|question|answer) \| (.+) \|$", text, flags=re.MULTILINE))
    title = text.splitlines()[0].removeprefix("# ")
    row = " | ".join([f"| [{title}]({page.name})", head["date"], head["question"], head["answer"]]) + " |"
    assert row in (ROOT / "experiments" / "README.md").read_text(encoding="utf-8").splitlines()


def test_extras_that_pages_name_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = {name for listed in re.findall(r"pip install '[.\w]*\[([^]]+)\]'", text) for name in listed.split(",")}
    assert {"variants", "tracks"} <= named <= set(extras)
    told = README.split("**Extras**")[1].split("**")[0]
    assert {"variants", "tracks"} <= set(re.findall(r"`(\w+)`", told)) <= set(extras)


def test_dataset_is_read_as_its_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    source = tmp_path / "two.fa"
    source.write_text(">first\nACGTNacgtn\n>second\nTTTTTTTTTT\n", encoding="utf-8")
    prepare(source, tmp_path / "data" / "demo", PrepareOptions(window=2, split="blocks", max_n=1.0))
    told = (
        'print("".join("ACGTN"[code] for code in codes), "".join(".x"[int(bit)] for bit in masked), len(windows) > 0)'
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + told], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout == "ACGTNACGTN .....xxxxx True\n"


def test_two_genomes_go_the_whole_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepared as the table says, they can be trained on, validated and scored."""
    monkeypatch.chdir(tmp_path)
    (line,) = [line for line in LINES if "human.fa mouse.fa" in line]
    contigs = {"human.fa": {"chr19": 6000, "chr20": 2000}, "mouse.fa": {"chr1": 2000}}
    for seed, (file, lengths) in enumerate(contigs.items()):
        Path(file).write_text(fasta({name: random_bases(length, seed) for name, length in lengths.items()}))
    training = "--preset tiny --steps 2 --batch-size 2 --eval-every 1 --device cpu --out runs/both"
    evaluation = "evaluate runs/both --windows 9 --resamples 1000 --device cpu --json"
    for words in (f"{line.removeprefix('dnagoat ')} --window 64", f"train data/human-mouse {training}", evaluation):
        done = CliRunner().invoke(app, words.split())
        assert done.exit_code == 0, done.stderr
    assert {one["split"] for one in json.loads(done.stdout)} == {"val", "test"} and "split is empty" not in done.stderr


@pytest.mark.slow
def test_library_example_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    assert 10 <= len([line for line in code.splitlines() if line]) <= 15
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    nll, written, scored, verdict, page = result.stdout.splitlines()
    assert 1.2 < float(nll.split()[0]) < 1.5
    assert re.fullmatch("[ACGT]{100} -[0-9.]+", written) and re.fullmatch("mine -[0-9.]+", scored)
    assert "too few seeds" in verdict and (tmp_path / page).read_text(encoding="utf-8").startswith("<!doctype html>")
