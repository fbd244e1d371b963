"""A folder into which nobody can write, for tests: by its modes, or, where root runs them, by the immutable flag."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in the folder can be changed; skips where neither modes nor the flag stop this user."""
    every = [folder, *(entry for entry in folder.rglob("*") if entry.is_dir())]
    try:
        _forbid(every)
        if _takes_files(folder):
            pytest.skip("nothing keeps this user from writing: neither modes nor chattr +i")
        yield
    finally:
        _allow(every)


def _forbid(folders: list[Path]) -> None:
    if os.geteuid() != 0:
        for folder in folders:
            folder.chmod(0o555)
    elif shutil.which("chattr"):
        subprocess.run(["chattr", "+i", *folders], check=False, capture_output=True)


def _allow(folders: list[Path]) -> None:
    if os.geteuid() != 0:
        for folder in folders:
            folder.chmod(0o755)
    elif shutil.which("chattr"):
        subprocess.run(["chattr", "-i", *folders], check=False, capture_output=True)


def _takes_files(folder: Path) -> bool:
    try:
        (folder / "tried").write_text("")
    except OSError:
        return False
    (folder / "tried").unlink()
    return True
