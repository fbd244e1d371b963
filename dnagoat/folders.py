"""How a folder comes to be: filled aside under a lock, then renamed, so that nobody sees half of it or two at once.

A symbolic link stays, and the folder that it leads to is replaced.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from dnagoat.errors import OptionError
from dnagoat.streams import STANDARD, follow, is_stream

# Where libraries keep what they compile or draw with, and cannot where a home is not one's own.
CACHES: Final = ("MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "NUMBA_CACHE_DIR")
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what only writing says
# What a file system says that has no locks, or none on folders (NFS): nothing keeps a second writer out there.
NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EINVAL)


def why_not_writable(folder: Path) -> str | None:
    """Why no file can be made in the folder, or in the nearest one that is there; None where one can.

    It is tried, since modes do not tell: root passes them, and a file system may be mounted for reading alone.
    """
    for place in (folder, *folder.absolute().parents):
        if place.exists():
            break
    try:
        with tempfile.TemporaryFile(dir=place, prefix=".dnagoat-"):
            return None
    except OSError as fault:
        return (fault.strerror or str(fault)).lower()


def refuse_stream(out: Path, option: str) -> None:
    """An `OptionError` where a folder is to be written to `-`, a pipe or a device."""
    if is_stream(out):
        what = "standard output" if out == STANDARD else "no folder"
        raise OptionError(f"{option} {out} is {what}, and a folder is written; give the name of a folder")


def may_fill(out: Path, option: str) -> None:
    """An `OptionError` where no file can be put into the folder `out`: said before there is work to lose."""
    refuse_stream(out, option)
    target = follow(out)
    if target.exists() and not target.is_dir():
        raise OptionError(f"{option} {out} is a file; give the name of a folder")
    if (why := why_not_writable(target)) is not None:
        raise OptionError(f"{out} cannot be written ({why}); give another {option}")


@contextmanager
def new_folder(out: Path, option: str, who: str, may_replace: Callable[[], None]) -> Iterator[Path]:
    """Yields a private folder that becomes `out` on success and is removed on failure; one at a time for one `out`.

    `may_replace` raises where what is there has to stay: asked first, and again before it is replaced. The lock is on
    the private folder itself, so it falls when its holder does, however it dies; what a killed one left behind is wiped
    by the next. An `OptionError` where another process is at it; `who` says what that is, `option` what names `out`.
    """
    refuse_stream(out, option)
    may_replace()
    target = follow(out)
    aside = target.with_name(f".{target.name}.partial")
    aside.mkdir(parents=True, exist_ok=True)
    with only_writer(aside, f"another {who} is writing {out}; wait for it, or write to another folder"):
        try:
            for left in aside.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            yield aside
            may_replace()
            _take_place(aside, target)
        except OSError as fault:
            # A person knows the folder that was to be; what only writing says (a full disk) has no name.
            if (fault.filename is None and fault.errno in FULL) or str(fault.filename).startswith(f"{aside}/"):
                fault.filename = str(out)
            raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def fill_alone(out: Path, option: str, who: str) -> Iterator[None]:
    """Holds the folder `out` until files were put into it; one that it makes, and that stays empty, goes."""
    may_fill(out, option)
    folder = follow(out)
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with only_writer(folder, f"another {who} is writing {out}; wait for it, or give another {option}"):
            yield
    finally:
        with suppress(OSError):  # not empty: files were put there
            if made:
                folder.rmdir()


@contextmanager
def only_writer(folder: Path, otherwise: str) -> Iterator[None]:
    """Holds a folder that is there until the end; an `OptionError` with the sentence where another process holds it."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        if not _got(lock, folder):
            raise OptionError(otherwise)
        yield
    finally:
        os.close(lock)


def _got(lock: int, folder: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as fault:
        if fault.errno not in NO_LOCKS:
            raise
    # Between opening and locking, its holder may have renamed or removed it.
    return folder.exists() and folder.stat().st_ino == os.fstat(lock).st_ino


def _take_place(aside: Path, out: Path) -> None:
    for file in aside.rglob("*"):
        if file.is_file():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
    if not out.exists():
        aside.rename(out)
        return
    old = out.with_name(f".{out.name}.old.{os.getpid()}")
    out.rename(old)
    aside.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def place_caches(environment: MutableMapping[str, str] = os.environ) -> None:
    """Gives the libraries' caches a folder of this user's own where the home cannot be written, as under
    `docker run --user`; what is set stays, and elsewhere nothing changes.

    A name that all users of a machine share would belong to the first of them.
    """
    if os.access(os.path.expanduser("~"), os.W_OK | os.X_OK):  # noqa: PTH111 (Path.home fails for a user without a name)
        return
    own = Path(tempfile.gettempdir()) / f"dnagoat-{os.getuid()}"
    for name in CACHES:
        environment.setdefault(name, str(own / name.removesuffix("_CACHE_DIR").lower()))
