"""Which process of how many this is, and what they tell each other (torch.distributed under torchrun or srun)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import sleep
from typing import Literal

import torch
from torch import Tensor, distributed

from dnagoat.errors import MissingError, OptionError

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

    def gathered(self, state: Tensor) -> list[Tensor]:
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

    def barrier(self) -> None:
        if self.count > 1:
            distributed.barrier()


def place(environment: Mapping[str, str] = os.environ) -> tuple[int, int, int]:
    """(rank, processes, rank on this node) that torchrun or srun gave; (0, 1, 0) without either."""
    if "RANK" in environment and "WORLD_SIZE" in environment:
        return int(environment["RANK"]), int(environment["WORLD_SIZE"]), int(environment.get("LOCAL_RANK", 0))
    if int(environment.get("SLURM_STEP_NUM_TASKS", 1)) > 1:  # set by srun alone, not inside a plain batch script
        return (
            int(environment["SLURM_PROCID"]),
            int(environment["SLURM_STEP_NUM_TASKS"]),
            int(environment["SLURM_LOCALID"]),
        )
    return 0, 1, 0


def rendezvous(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What torch.distributed wants to know of a SLURM step: the first node, and a port made from the job's number."""
    if "MASTER_ADDR" in environment or "SLURM_STEP_NODELIST" not in environment:
        return {}
    port = 20_000 + int(environment.get("SLURM_JOB_ID", 0)) % 20_000
    return {"MASTER_ADDR": first_node(environment["SLURM_STEP_NODELIST"]), "MASTER_PORT": str(port)}


def first_node(nodes: str) -> str:
    """The first name of SLURM's short list: `gpu[03-05,9],x1` -> `gpu03`."""
    head, bracket, rest = nodes.partition("[")
    if not bracket or "," in head:
        return head.split(",")[0]
    return head + rest.split("]")[0].split(",")[0].split("-")[0]


def pick_device(name: str, local_rank: int = 0) -> torch.device:
    """`auto` is CUDA where there is one, else the CPU; an absent device is a `MissingError`."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise OptionError(f"--device {name} is not a device; give auto, cpu, cuda or cuda:N") from None
    if device.type not in ("cpu", "cuda"):
        raise OptionError(f"--device {name} is not one that dnagoat trains on; give auto, cpu, cuda or cuda:N")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise MissingError(f"--device {name}: no CUDA device is visible here; use --device cpu, or a GPU node")
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
    return device


@contextmanager
def processes(device: str) -> Iterator[Processes]:
    """Joins the process group that torchrun or srun announced (NCCL on GPUs, gloo on CPUs), and leaves it.

    Gloo's threads outlive the group where FSDP was used (DTensor's caches hold it), and one of them that still has to
    let go of a tensor as Python ends aborts the process: it waits for the interpreter's lock, which is no more. So all
    meet once more with nothing in their hands, and leave the lock alone for a moment.
    """
    rank, count, local = place()
    here = pick_device(device, local)
    if here.type == "cuda":
        torch.cuda.set_device(here)
    if count == 1:
        yield Processes(0, 1, here)
        return
    mine = not distributed.is_initialized()
    if mine:
        os.environ.update(rendezvous())
        backend = "cpu:gloo,cuda:nccl" if here.type == "cuda" else "gloo"
        distributed.init_process_group(backend, rank=rank, world_size=count)
    group = Processes(rank, count, here)
    try:
        yield group
        group.barrier()
        if here.type == "cpu":
            sleep(0.2)
    finally:
        if mine:
            distributed.destroy_process_group()
