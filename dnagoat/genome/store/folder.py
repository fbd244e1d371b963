"""How a dataset's folder comes to be whole, and what of one that is there may be replaced."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dnagoat import folders
from dnagoat.errors import DatasetError

MANIFEST, TOKENS, WINDOWS = "manifest.json", "tokens.u8", "windows.parquet"


@contextmanager
def new_folder(out: Path, force: bool) -> Iterator[Path]:
    """Yields a private folder that becomes the dataset `out` on success and is removed on failure."""
    try:
        with folders.new_folder(out, "--out", "prepare", lambda: may_replace(out, force)) as aside:
            yield aside
    except OSError as fault:
        raise _fault(out, fault) from None


def may_replace(out: Path, force: bool) -> None:
    """A `DatasetError` where `out` exists and is not a dataset that may be replaced."""
    if not out.exists():
        return
    if not force:
        raise DatasetError(f"{out} exists already; give another --out, or --force to replace it")
    if not (out / MANIFEST).is_file():
        raise DatasetError(f"{out} is not a dataset, so --force does not replace it; give another --out")


def _fault(out: Path, fault: OSError) -> DatasetError:
    if fault.errno == errno.ENOSPC or "No space left" in str(fault):
        return DatasetError(f"the disk of {out} is full; a dataset needs about one byte a base")
    return DatasetError(f"{out} cannot be written: {fault.strerror or fault}")
