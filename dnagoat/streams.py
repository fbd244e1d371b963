"""Which paths are no plain files, and how bytes pass through them: `-`, descriptors, pipes, devices.

`-` is standard input to what reads and standard output to what writes, as in other tools of the field. `/dev/stdout`,
`/dev/fd/63` and the like name a descriptor of this process: what they lead to belongs to the shell, and is never
replaced.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from dnagoat.errors import OptionError

STANDARD: Final = Path("-")
_DESCRIPTOR: Final = re.compile(r"/proc/(?P<process>\d+)(/task/\d+)?/fd/(?P<linux>\d+)|/dev/fd/(?P<bsd>\d+)")
_MOST_LINKS: Final = 40  # as many as Linux follows


def follow(path: Path) -> Path:
    """Where a chain of symbolic links ends, absolute, whether a file is there or not; a descriptor stays one."""
    here = path
    for _ in range(_MOST_LINKS):
        here = here.absolute()
        if here.name in ("", ".."):
            return Path(os.path.realpath(here))
        here = Path(os.path.realpath(here.parent)) / here.name
        if _DESCRIPTOR.fullmatch(str(here)) or not here.is_symlink():
            return here
        here = here.parent / here.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def is_stream(path: Path) -> bool:
    """Whether it is `-`, a pipe, a socket or a device: something that is read or written once, from end to end."""
    if path == STANDARD:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_passage(path: Path) -> bool:
    """Whether what is written goes through it: a stream, or a descriptor of this process whatever lies behind it."""
    return is_stream(path) or _descriptor(path) is not None


def name_input(path: Path) -> str:
    """What a sentence calls a file that is read."""
    return "standard input" if path == STANDARD else str(path)


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, or of a stream from where it stands; standard input is not closed afterwards."""
    if path != STANDARD:
        with path.open("rb") as handle:
            yield handle
    elif sys.stdin is None:
        raise OptionError("standard input is closed; give the name of a file")
    else:
        yield sys.stdin.buffer


def pour(file: Path, path: Path) -> None:
    """Writes the bytes of a file through `path`, which stays what it is."""
    try:
        with file.open("rb") as source, _open_passage(path) as sink:
            shutil.copyfileobj(source, sink)
            sink.flush()
    except OSError as fault:
        fault.filename = "standard output" if path == STANDARD else str(path)
        raise


@contextmanager
def _open_passage(path: Path) -> Iterator[BinaryIO]:
    if sys.stdout is not None:
        sys.stdout.flush()  # it may be the same descriptor
    if path == STANDARD:
        yield sys.stdout.buffer
        return
    own = _descriptor(path)
    with path.open("wb") if own is None else os.fdopen(os.dup(own), "wb") as handle:
        yield handle


def _descriptor(path: Path) -> int | None:
    """The number of this process's descriptor that `path` names, or None."""
    try:
        found = _DESCRIPTOR.fullmatch(str(follow(path)))
    except OSError:
        return None
    if found is None or int(found["process"] or os.getpid()) != os.getpid():
        return None
    return int(found["linux"] or found["bsd"])


def refuse_two_readers(*named: tuple[str, Path | None]) -> None:
    """An `OptionError` where two options, each given with its path, read one stream: the second would get nothing."""
    streams = [(option, path) for option, path in named if path is not None and is_stream(path)]
    _refuse_same(streams, 0, "is read by {0} and by {1}, and can be read once; give one of them a file")


def refuse_two_writers(*named: tuple[str, Path | None]) -> None:
    """An `OptionError` where two options write one file or one stream; the null device takes everything."""
    sinks = [(option, path) for option, path in named if path is not None and not _is_null(path)]
    _refuse_same(sinks, 1, "is written by {0} and by {1}; give each a file of its own")


def _refuse_same(named: Sequence[tuple[str, Path]], standard: int, said: str) -> None:
    seen: dict[Hashable, str] = {}
    for option, path in named:
        place = _identity(path, standard)
        if place in seen:
            what = ("standard input", "standard output")[standard] if path == STANDARD else str(path)
            raise OptionError(f"{what} {said.format(seen[place], option)}")
        seen[place] = option


def _identity(path: Path, standard: int) -> Hashable:
    """What two names of one file or stream have in common."""
    try:
        there = os.fstat(standard) if path == STANDARD else path.stat()
        return there.st_dev, there.st_ino
    except OSError:
        return str(path if path == STANDARD else follow(path))


def _is_null(path: Path) -> bool:
    try:
        return path != STANDARD and path.samefile(os.devnull)
    except OSError:
        return False
