"""Who trains a run folder: one trainer at a time, orphans of a killed launcher included."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dnagoat.errors import RunError
from dnagoat.folders import NO_LOCKS
from dnagoat.training.launch.processes import Processes

WRITER, WORKERS = ".lock", ".lock-workers"


@contextmanager
def locked(run: Path, group: Processes, say: Callable[[str], None]) -> Iterator[None]:
    """Holds the folder until the end; a `RunError` on every process where another trainer lives.

    The main process holds `.lock` alone, the others share `.lock-workers`: so a worker that outlived its launcher still
    keeps a new trainer out. The kernel drops the locks of a process that dies, however it dies.
    """
    held: list[int] = []
    refusal = None
    try:
        if group.main:
            refusal = _take(run, held, say)
        if (sentence := group.agree(refusal)) is not None:
            raise RunError(sentence)
        if not group.main:
            held.append(_open(run / WORKERS))
            with _without_locks(lambda: None):  # the main process has said so
                fcntl.flock(held[-1], fcntl.LOCK_SH)
        group.barrier()
        yield
    finally:
        for handle in held:
            os.close(handle)


def _take(run: Path, held: list[int], say: Callable[[str], None]) -> str | None:
    """Takes the writer's lock and looks whether a worker lives; what to say where one does."""
    writer, workers = _open(run / WRITER), _open(run / WORKERS)
    held.append(writer)
    trainer = os.pread(writer, 200, 0).decode().strip() or "another process"
    try:
        with _without_locks(lambda: say(f"the file system of {run} has no locks: nothing keeps a second trainer out")):
            if not _got(writer):
                return f"{run} is being trained by {trainer}; stop that first, or give another --out"
            if not _got(workers):
                return f"{run} still has workers, started with {trainer}, which has gone; stop them first"
    finally:
        os.close(workers)
    os.ftruncate(writer, 0)
    os.pwrite(writer, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    return None


@contextmanager
def _without_locks(tell: Callable[[], None]) -> Iterator[None]:
    """Goes on, once `tell` has told so, where a file system has no locks, as some of a cluster's have none."""
    try:
        yield
    except OSError as why:
        if why.errno not in NO_LOCKS:
            raise
        tell()


def _got(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
