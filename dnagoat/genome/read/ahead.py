"""How do two steps run at once: one goes ahead in a thread while the other works on what it made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Full, Queue
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T], depth: int = 4) -> Iterator[T]:
    """The same items in the same order, made in a thread that is at most `depth` items ahead.

    What the thread raises is raised here, after the items before it. It ends when the caller stops listening.
    """
    made: Queue[tuple[str, T | BaseException | None]] = Queue(depth)
    enough = threading.Event()

    def offer(kind: str, item: T | BaseException | None) -> None:
        while not enough.is_set():
            try:
                made.put((kind, item), timeout=0.1)
                return
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                offer("item", item)
                if enough.is_set():
                    return
            offer("end", None)
        except BaseException as fault:
            offer("fault", fault)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            kind, item = made.get()
            if kind == "end":
                return
            if isinstance(item, BaseException):
                raise item
            yield item  # type: ignore[misc]  # of kind "item", so a T
    finally:
        enough.set()
        thread.join()
