"""What the processes of a training do when one of them ends before its time: the others end too, with a sentence.

Whoever waits for a process that is gone waits inside C++. Gloo notices that a connection is closed; NCCL waits for ten
minutes or for ever, and has to be told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import torch
from torch import distributed

from dnagoat.errors import TrainingError

FAULT = "fault"  # where the first process that fails leaves its number
PAUSE = 1.0  # seconds between looks
GONE = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "NCCL communicator was aborted")


class Board(Protocol):
    """What all of them can read and write: a store of torch.distributed."""

    def set(self, key: str, value: str) -> None: ...

    def check(self, keys: list[str]) -> bool: ...


@contextmanager
def watch(
    store: Board | None,
    rank: int,
    count: int,
    device: torch.device,
    abort: Callable[[], None] = lambda: distributed.distributed_c10d._abort_process_group(),
    pause: float = PAUSE,
) -> Iterator[None]:
    """Inside the block a fault of another process ends this one: as a `TrainingError` that says so.

    A fault of this one is told to the others on its way out, and leaves the group without waiting for them.
    """
    done, told = threading.Event(), threading.Event()

    def look() -> None:
        while not done.wait(pause):
            with suppress(RuntimeError):  # the store may be gone with the process that held it
                if store is not None and store.check([FAULT]):
                    told.set()
                    abort()
                    return

    if device.type == "cuda" and store is not None:
        threading.Thread(target=look, daemon=True).start()
    try:
        yield
    except BaseException as fault:
        done.set()
        if isinstance(fault, RuntimeError) and (told.is_set() or any(words in str(fault) for words in GONE)):
            raise TrainingError(
                f"another of the {count} processes has ended, which says itself why; what was saved is intact: "
                "continue (`dnagoat train --resume`)"
            ) from None
        if store is not None:
            with suppress(RuntimeError):
                store.set(FAULT, str(rank))
            with suppress(RuntimeError):
                abort()
        raise
    finally:
        done.set()
