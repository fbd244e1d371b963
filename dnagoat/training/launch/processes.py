"""Which process of how many this is, and what they tell each other (torch.distributed under torchrun or srun)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import sleep
from typing import Literal

import torch
from torch import Tensor, distributed

from dnagoat.errors import MissingError, OptionError, Stopped
from dnagoat.training.launch.devices import idle_gpu, refuse_one_for_all, refuse_shared
from dnagoat.training.launch.meeting import PATIENCE, meet
from dnagoat.training.launch.peers import watch
from dnagoat.training.launch.stop import Stop, never

Parallel = Literal["auto", "none", "ddp", "fsdp"]


@dataclass(frozen=True)
class Processes:
    """This process among all that train one model; a lone one needs no process group."""

    rank: int
    count: int
    device: torch.device

    @property
    def main(self) -> bool:
        """Whether this process writes files."""
        return self.rank == 0

    def total(self, *values: float) -> list[float]:
        """The sums over all processes, in float64."""
        if self.count == 1:
            return list(values)
        summed = torch.tensor(values, dtype=torch.float64)  # float32 would miscount bases from 2^24 on
        distributed.all_reduce(summed)
        return [float(value) for value in summed]

    def gather(self, state: Tensor) -> list[Tensor]:
        """One uint8 tensor of equal length from every process, on the CPU, in the order of ranks."""
        if self.count == 1:
            return [state]
        everyone = [torch.empty_like(state) for _ in range(self.count)]
        distributed.all_gather(everyone, state)
        return everyone

    def agree(self, sentence: str | None) -> str | None:
        """What the main process says, told to all; lets them raise the same error together."""
        if self.count == 1:
            return sentence
        told: list[str | None] = [sentence]
        distributed.broadcast_object_list(told, src=0, device=torch.device("cpu"))
        return told[0]

    def largest(self, number: int) -> int:
        """The largest of a number from 0 to 255 that every process has."""
        return max(int(one) for one in self.gather(torch.tensor([number], dtype=torch.uint8)))

    def barrier(self) -> None:
        if self.count > 1:
            distributed.barrier()


def place(environment: Mapping[str, str] = os.environ) -> tuple[int, int, int]:
    """(rank, processes, rank on this node) that torchrun or srun gave; (0, 1, 0) without either.

    An `OptionError` where the variables of a launcher are half there, no numbers, or do not go together.
    """
    if "RANK" in environment or "WORLD_SIZE" in environment:
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
        launcher = "torchrun sets"
    elif _number(environment, "SLURM_STEP_NUM_TASKS", "srun sets", 1) > 1:  # set by srun alone, not in a batch script
        names = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID")
        launcher = "srun sets"
    else:
        return 0, 1, 0
    rank, count = (_number(environment, name, launcher) for name in names[:2])
    local = _number(environment, names[2], launcher, 0)
    if count < 1 or not 0 <= rank < count or local < 0:
        raise OptionError(
            f"{names[0]}={rank}, {names[1]}={count} and {names[2]}={local} do not go together: ranks are counted from "
            f"0; start with torchrun or srun, or unset {names[0]} and {names[1]}"
        )
    return rank, count, local


def _number(environment: Mapping[str, str], name: str, launcher: str, default: int | None = None) -> int:
    text = environment.get(name)
    if text is None and default is not None:
        return default
    try:
        return int(text or "")
    except ValueError:
        found = f"{name}={text} is no whole number" if text is not None else f"{name} is missing"
        raise OptionError(
            f"{found} among the variables that {launcher} for each process; start with torchrun or srun, or unset them "
            "to train with one process"
        ) from None


def rendezvous(environment: Mapping[str, str] = os.environ) -> tuple[str, int]:
    """Address and port at which the processes meet: the launcher's, else a SLURM step's first node and job number."""
    if "MASTER_ADDR" in environment:
        return environment["MASTER_ADDR"], _port(environment, None)
    if "SLURM_STEP_NODELIST" not in environment:
        raise OptionError(
            "several processes were announced (RANK, WORLD_SIZE), but not where they meet: MASTER_ADDR is missing; "
            "start with torchrun or srun, or unset RANK and WORLD_SIZE to train with one process"
        )
    job = _number(environment, "SLURM_JOB_ID", "srun sets", 0)
    return first_node(environment["SLURM_STEP_NODELIST"]), _port(environment, 20_000 + job % 20_000)


def _port(environment: Mapping[str, str], default: int | None) -> int:
    port = _number(environment, "MASTER_PORT", "torchrun sets", default)
    if not 0 < port < 65_536:
        raise OptionError(f"MASTER_PORT={port} is no port; give one between 1 and 65535")
    return port


def lone(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without a launcher's variables: for a process that this one starts, and that trains alone."""
    ours = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "SLURM_STEP_NUM_TASKS"}
    return {name: value for name, value in environment.items() if name not in ours}


def first_node(nodes: str) -> str:
    """The first name of SLURM's short list: `gpu[03-05,9],x1` -> `gpu03`."""
    head, bracket, rest = nodes.partition("[")
    if not bracket or "," in head:
        return head.split(",")[0]
    return head + rest.split("]")[0].split(",")[0].split("-")[0]


def pick_device(name: str, local_rank: int = 0) -> torch.device:
    """`auto` is CUDA where there is one, else the CPU; an absent device, or one that this torch cannot use, is a
    `MissingError`."""
    if name == "auto":
        if not torch.cuda.is_available() and (fault := idle_gpu()):
            raise MissingError(f"--device auto: {fault}; or give --device cpu")
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise OptionError(f"--device {name} is not a device; give auto, cpu, cuda or cuda:N") from None
    if device.type not in ("cpu", "cuda"):
        raise OptionError(f"--device {name} is not one that dnagoat trains on; give auto, cpu, cuda or cuda:N")
    if device.type == "cuda" and not torch.cuda.is_available():
        fault = idle_gpu() or "no CUDA device is visible here; use a GPU node"
        raise MissingError(f"--device {name}: {fault}, or --device cpu")
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
    return device


def _part(group: Processes) -> None:
    """All meet once more with nothing in their hands, and leave the interpreter's lock alone for a moment.

    Gloo's threads outlive the group where FSDP was used (DTensor's caches hold it), and one of them that still has to
    let go of a tensor as Python ends aborts the process: it waits for that lock, which is no more.
    """
    group.barrier()
    if group.device.type == "cpu":
        sleep(0.2)


@contextmanager
def processes(
    device: str,
    *,
    stop: Stop = never,
    say: Callable[[str], None] = lambda _: None,
    patience: float = PATIENCE,
) -> Iterator[Processes]:
    """Joins the process group that torchrun or srun announced (NCCL on GPUs, gloo on CPUs), and leaves it."""
    rank, count, local = place()
    if count > 1:
        refuse_one_for_all(device)
    here = pick_device(device, local)
    if here.type == "cuda":
        torch.cuda.set_device(here)
    if count == 1:
        yield Processes(0, 1, here)
        return
    mine, store = not distributed.is_initialized(), None
    if mine:
        store = meet(rank, count, *rendezvous(), stop=stop, say=say, patience=patience)
        refuse_shared(store, rank, count, here)
        backend = "cpu:gloo,cuda:nccl" if here.type == "cuda" else "gloo"
        distributed.init_process_group(backend, store=store, rank=rank, world_size=count)
    group = Processes(rank, count, here)
    with watch(store if mine else None, rank, count, here):
        try:
            yield group
        except Stopped:  # by all of them after the same step
            _part(group)
            raise
        _part(group)
    if mine:
        distributed.destroy_process_group()
