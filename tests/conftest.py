"""What every test may ask for: the folder of real chromosomes and awkward files, where there is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout (or DNAGOAT_SHARED); tests that need it skip where it is absent."""
    folder = Path(os.environ.get("DNAGOAT_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the real chromosomes in {folder}, which is not here")
    return folder
