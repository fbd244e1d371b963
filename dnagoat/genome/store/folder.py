"""How does a dataset's folder come to be whole: written aside under a lock, then renamed."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dnagoat.errors import DatasetError


@contextmanager
def new_folder(out: Path, force: bool) -> Iterator[Path]:
    """Yields a private folder that becomes `out` on success and is removed on failure; one at a time for one `out`.

    The lock is on the private folder itself, so it falls when its holder does, however it dies; what a killed one left
    behind is wiped by the next.
    """
    may_replace(out, force)
    aside = out.absolute().with_name(f".{out.absolute().name}.partial")
    try:
        aside.mkdir(parents=True, exist_ok=True)
        with _locked(aside, out):
            try:
                for left in aside.iterdir():
                    left.unlink()
                yield aside
                may_replace(out, force)
                _take_place(aside, out.absolute())
            finally:
                shutil.rmtree(aside, ignore_errors=True)
    except OSError as fault:
        raise _fault(out, fault) from None


@contextmanager
def _locked(folder: Path, out: Path) -> Iterator[None]:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between opening and locking, its holder may have renamed or removed it.
        mine = folder.exists() and folder.stat().st_ino == os.fstat(lock).st_ino
    except BlockingIOError:
        mine = False
    try:
        if not mine:
            raise DatasetError(f"another prepare is writing {out}; wait for it, or give another --out")
        yield
    finally:
        os.close(lock)


def may_replace(out: Path, force: bool) -> None:
    """A `DatasetError` where `out` exists and is not a dataset that may be replaced."""
    if not (out.exists() or out.is_symlink()):
        return
    if not force:
        raise DatasetError(f"{out} exists already; give another --out, or --force to replace it")
    if not (out / "manifest.json").is_file():
        raise DatasetError(f"{out} is not a dataset, so --force does not replace it; give another --out")


def _take_place(aside: Path, out: Path) -> None:
    for file in aside.iterdir():
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
    if not out.exists():
        aside.rename(out)
        return
    old = out.with_name(f".{out.name}.old.{os.getpid()}")
    out.rename(old)
    aside.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _fault(out: Path, fault: OSError) -> DatasetError:
    if fault.errno == errno.ENOSPC or "No space left" in str(fault):
        return DatasetError(f"the disk of {out} is full; a dataset needs about one byte a base")
    return DatasetError(f"{out} cannot be written: {fault.strerror or fault}")
