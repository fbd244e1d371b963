"""How a signal becomes an orderly end: what schedulers, shells and Ctrl-C send asks, the loop saves and stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from dnagoat.errors import Stopped
from dnagoat.progress import Progress

Stop = Callable[[], str | None]  # the name of the signal that came, or None

# Preemption (SLURM, PBS), Ctrl-C, a warning before the time limit (SLURM's --signal, SGE's -notify), the limit of CPU
# time (ulimit -t), a terminal that was closed.
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGHUP)


def never() -> None:
    """The signal that never comes."""


def heard() -> tuple[signal.Signals, ...]:
    """The signals that somebody may send: one that is ignored, as SIGHUP is under nohup, stays ignored."""
    return tuple(number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)


@contextmanager
def stop_asked() -> Iterator[Stop]:
    """Yields a function that names the signal that came (or None); a second Ctrl-C interrupts at once.

    The earlier handlers come back at the end. Outside the main thread nothing can be caught, and nothing is.
    """
    came: list[signal.Signals] = []

    def note(number: int, _: FrameType | None) -> None:
        if came and number == signal.SIGINT:
            raise KeyboardInterrupt
        came.append(signal.Signals(number))

    if threading.current_thread() is not threading.main_thread():
        yield never
        return
    before = {number: signal.signal(number, note) for number in heard()}
    try:
        yield lambda: came[0].name if came else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stopping(progress: Progress, stop: Stop) -> Progress:
    """The same progress, which raises `Stopped` once a signal came: work that saves nothing on its way ends there."""

    def told(what: str, done: int, total: int) -> None:
        if name := stop():
            raise Stopped(signal.Signals[name])
        progress(what, done, total)

    return told


def unwind_when_told() -> None:
    """From now on a signal raises `Stopped`, so that what was begun under a temporary name is removed on the way out.

    Ctrl-C does so by itself, as KeyboardInterrupt. A handler that somebody has set stays.
    """

    def unwind(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # SIGXCPU comes every second: once is enough to clean up
        raise Stopped(signal.Signals(number))

    for number in SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, unwind)
