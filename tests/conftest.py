"""What every test may ask for: the folder of real chromosomes and awkward files, where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# An example may take as long as it takes: on a machine that others use, hypothesis's 200 ms say nothing of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout (or DNAGOAT_SHARED); tests that need it skip where it is absent."""
    folder = Path(os.environ.get("DNAGOAT_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the real chromosomes in {folder}, which is not here")
    return folder
