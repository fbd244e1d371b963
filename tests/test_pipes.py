"""Commands between pipes, as a shell runs them: streams in and out, readers that leave, streams that are shut."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DNAGOAT = f"{sys.executable} -m dnagoat_cli"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `dnagoat` is this installation; its exit code is that of the pipe's first command."""
    script = f'dnagoat() {{ {DNAGOAT} "$@"; }}; {line}; exit ${{PIPESTATUS[0]}}'
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("words", ["--help", "--version", "generate --help", "prepare --list", "prepare --list --json"])
def test_a_reader_that_leaves_ends_it_quietly(tmp_path: Path, words: str) -> None:
    """As `yes | head` does: 128 + SIGPIPE, and no word."""
    done = shell(f"dnagoat {words} | true", tmp_path)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", ["--help", "--version", "generate --help", "prepare --list --json"])
def test_a_full_device_is_one_sentence(tmp_path: Path, words: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = shell(f"dnagoat {words} > /dev/full", tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("error: No space left") and done.stderr.count("\n") == 1


def test_shut_standard_streams_are_no_traceback(tmp_path: Path) -> None:
    for words in ("prepare --list", "--help", "--version"):
        assert (shut := shell(f"dnagoat {words} >&-", tmp_path)).returncode == 0 and not shut.stderr
    shut = shell("dnagoat prepare - --out new <&-", tmp_path)
    assert shut.returncode == 2 and shut.stderr.count("\n") == 1 and "standard input" in shut.stderr


@pytest.fixture
def genome(tmp_path: Path) -> Path:
    (tmp_path / "genome.fa").write_text(">a\n" + "ACGTTGCAAG\n" * 60 + ">b\n" + "GATTACAGGC\n" * 30)
    return tmp_path


HASH = "python -c \"import json; print(json.load(open('{}/manifest.json'))['content_hash'])\""


@pytest.mark.parametrize(
    "given",
    ["- < genome.fa", "<(cat genome.fa)", "- < <(gzip -c genome.fa)", "/dev/stdin < genome.fa", "- < genome.fa 0<&0"],
)
def test_a_genome_from_a_stream_is_the_genome(genome: Path, given: str) -> None:
    rules = "--window 20 --test b"
    assert shell(f"dnagoat prepare genome.fa {rules} --out file", genome).returncode == 0
    made = shell(f"dnagoat prepare {given.replace(' <', f' {rules} --out stream <', 1)}", genome)
    if " <" not in given:
        made = shell(f"dnagoat prepare {given} {rules} --out stream", genome)
    assert made.returncode == 0, made.stderr
    same = shell("dnagoat inspect stream --verify --json | grep -o 'content_hash.*'", genome).stdout
    assert same and same == shell("dnagoat inspect file --json | grep -o 'content_hash.*'", genome).stdout


def test_regions_of_a_stream_and_from_a_stream(genome: Path) -> None:
    (genome / "chosen.bed").write_text("b\t0\t200\na\t100\t400\n")
    rules = "--window 20 --split-blocks"
    made = [
        shell(f"dnagoat prepare {words} {rules} --out {out} --json | grep -o 'content_hash.*'", genome)
        for out, words in {
            "one": "genome.fa --regions chosen.bed",
            "two": "<(cat genome.fa) --regions chosen.bed",
            "three": "genome.fa --regions <(cat chosen.bed)",
            "four": "<(gzip -c genome.fa) --regions <(cat chosen.bed)",
        }.items()
    ]
    assert all(one.returncode == 0 for one in made), [one.stderr for one in made]
    assert len({one.stdout for one in made}) == 1 and made[0].stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("prepare - --window 20 --out new < /dev/null", "standard input is empty"),
        ("prepare - --window 20 < genome.fa", "standard input has no name"),
        ("prepare <(cat genome.fa) --window 20", "give --out FOLDER"),
        ("prepare - --window 20 --regions - --out new < genome.fa", "standard input is read by the genome and by"),
        ("prepare genome.fa --window 20 --out -", "--out - is standard output, and a folder is written"),
        ("prepare genome.fa --window 20 --out /dev/null --force", "and a folder is written"),
        ("prepare <(printf '\\x43\\x27\\x41\\x1a1234') --window 20 --out new", "save it to a file and name it"),
        ("prepare <(gzip -c genome.fa | head -c 50) --window 20 --out new", "cut short"),
        ("prepare <(echo hello) --window 20 --out new", "text before the first header"),
    ],
)
def test_what_a_stream_cannot_be_is_one_sentence(genome: Path, line: str, said: str) -> None:
    before = sorted(genome.iterdir())
    done = shell(f"dnagoat {line}", genome)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert sorted(genome.iterdir()) == before, "nothing half-written"
