"""How a signal becomes an orderly end: SIGTERM (SLURM's preemption) and Ctrl-C ask, the loop saves and stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stop_asked() -> Iterator[Callable[[], str | None]]:
    """Yields a function that names the signal that came (or None); a second Ctrl-C interrupts at once.

    The earlier handlers come back at the end. Outside the main thread nothing can be caught, and nothing is.
    """
    came: list[signal.Signals] = []

    def note(number: int, _: FrameType | None) -> None:
        if came and number == signal.SIGINT:
            raise KeyboardInterrupt
        came.append(signal.Signals(number))

    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield lambda: came[0].name if came else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
