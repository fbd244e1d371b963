"""How the processes of one training find each other: patiently, but not for ever, and with an ear for signals.

torch.distributed waits inside C++, where Python hears no signal: a shell inside `srun -n2 --pty` has the variables of
two processes and is alone, and would wait for half an hour. So everybody is counted before a group is made.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count as numbers
from signal import Signals
from time import monotonic, sleep

from torch.distributed import PrefixStore, Store, TCPStore  # type: ignore[attr-defined]

from dnagoat.errors import OptionError, Stopped, TrainingError
from dnagoat.training.launch.stop import Stop

PATIENCE = 300.0  # seconds; a cold file system can take minutes to start Python on every node
SOON, LATER = 3.0, 30.0  # seconds without the others, after which the first process, or any other, says so
PAUSE = 0.1  # seconds between looks
ANSWER_WITHIN = timedelta(seconds=30)  # for one question to the store, which answers at once where it is

_groups: Iterator[int] = numbers()  # a group of its own for each training of this process


def meet(
    rank: int,
    count: int,
    host: str,
    port: int,
    *,
    stop: Stop,
    say: Callable[[str], None],
    patience: float = PATIENCE,
) -> Store:
    """A store that all `count` processes share, once all of them are there.

    `say` hears what is waited for, once. Raises `Stopped` where `stop` names a signal, `TrainingError` after `patience`
    seconds, `OptionError` where the port is taken.
    """
    began, told = monotonic(), False
    store, present = None, 0
    while True:
        if store is None and (found := _opened(rank, count, host, port)) is not None:
            store = PrefixStore(f"dnagoat-{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}-{next(_groups)}", found)
            store.add("present", 1)
        if store is not None and (present := store.add("present", 0)) >= count:
            return store
        if (name := stop()) is not None:
            raise Stopped(Signals[name])
        waited = monotonic() - began
        if waited > patience:
            raise TrainingError(f"{_missing(rank, count, host, port, present)} after {waited:,.0f} s; {_cure()}")
        if waited > (LATER if rank else SOON) and not told:
            say(f"{_missing(rank, count, host, port, present)}; waiting up to {patience:,.0f} s; {_cure()}")
            told = True
        sleep(PAUSE)


def _opened(rank: int, count: int, host: str, port: int) -> Store | None:
    """The store, made by the first process or by torchrun; None where it does not answer yet."""
    hosts = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
    if hosts:
        _refuse_taken(port)
        return TCPStore("localhost", port, count, is_master=True, timeout=ANSWER_WITHIN, wait_for_workers=False)
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:  # not there yet, or not under that name
        return None
    return TCPStore(host, port, count, is_master=False, timeout=ANSWER_WITHIN, wait_for_workers=False)


def _refuse_taken(port: int) -> None:
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return
    raise OptionError(
        f"port {port}, at which the processes are to meet, is taken on this machine; give another MASTER_PORT"
    )


def _missing(rank: int, count: int, host: str, port: int, present: int) -> str:
    if present:
        return f"{present} of {count} processes are there"
    return f"process {rank} of {count} finds nobody at {host}:{port}"


def _cure() -> str:
    if "RANK" in os.environ:
        return "start all of them with torchrun, or unset RANK and WORLD_SIZE to train with one process"
    return "start all of them with srun; in a shell that srun opened, unset SLURM_STEP_NUM_TASKS to train with one"
