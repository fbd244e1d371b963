"""Which GPU is whose: one a process, one a job, and none that a library cannot use."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

import torch

from dnagoat.errors import OptionError

VISIBLE = "CUDA_VISIBLE_DEVICES"
DRIVER: Final = re.compile(r"NVRM version:.*?\s(\d+(?:\.\d+)+)\s")
ANY = ("auto", "cuda")  # what leaves it open which GPU


class Board(Protocol):
    """Where processes write what the others read: a store of torch.distributed."""

    def set(self, key: str, value: str) -> None: ...

    def get(self, key: str) -> bytes: ...


def _has_gpu(root: Path) -> bool:
    """Whether a process can open an NVIDIA device here, whatever its libraries make of it; a container has its own."""
    return any(file.name.removeprefix("nvidia").isdigit() for file in (root / "dev").glob("nvidia[0-9]*"))


def nvidia_driver(root: Path = Path("/")) -> str | None:
    """The version of the NVIDIA driver that the kernel has loaded; None where there is none."""
    try:
        found = DRIVER.search((root / "proc/driver/nvidia/version").read_text(encoding="ascii", errors="replace"))
    except OSError:
        return None
    return found[1] if found else None


def idle_gpu(root: Path = Path("/"), environment: Mapping[str, str] = os.environ) -> str | None:
    """Why a GPU that is here is of no use to this torch, and the cure; None where there is none or it is hidden."""
    if environment.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1") or not _has_gpu(root):
        return None
    build = f"is built for CUDA {torch.version.cuda}" if torch.version.cuda else "is a build without CUDA"
    return (
        f"an NVIDIA device is here (driver {nvidia_driver(root) or 'unknown'}), and torch {torch.__version__}, which "
        f"{build}, cannot use it; install a build for your driver (docs/gpu.md lists them)"
    )


def visible_gpus(device: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The GPUs that jobs can share out among them, by the names that CUDA_VISIBLE_DEVICES takes; none where one is
    named, or none is there."""
    if device not in ANY or not torch.cuda.is_available():
        return []
    count = torch.cuda.device_count()
    named = [name for name in environment.get(VISIBLE, "").split(",") if name]
    return named[:count] if named else [str(index) for index in range(count)]


def least_used(gpus: Sequence[str], taken: Sequence[str | None]) -> str | None:
    """The GPU that the fewest of the jobs at work have; None where there is none to choose from."""
    return min(gpus, key=taken.count, default=None)


def refuse_one_for_all(device: str) -> None:
    """An `OptionError` where several processes were to train on one GPU, which is named."""
    if device.startswith("cuda:"):
        raise OptionError(
            f"--device {device} is one GPU, and several processes were started; give --device cuda, and each takes its "
            "own"
        )


def refuse_shared(store: Board, rank: int, count: int, device: torch.device) -> None:
    """An `OptionError` on every process where two of them have the same GPU: NCCL cannot work so.

    A launcher may show each process another GPU under the same number, so that they are told apart by their own names.
    """
    store.set(f"device {rank}", name_device(device))
    names = [store.get(f"device {other}").decode() for other in range(count)]
    shared = [name for name in names if name.startswith("cuda ")]
    if len(set(shared)) < len(shared):
        host = max(set(shared), key=shared.count).split()[1]
        there = [name for name in shared if name.split()[1] == host]
        raise OptionError(
            f"{len(there)} processes were started on {host}, and {len(set(there))} of its GPUs "
            "would be shared; start one process a GPU (torchrun --nproc-per-node, srun --ntasks-per-node)"
        )


def name_device(device: torch.device) -> str:
    """What no other device has: kind, host and the GPU's own number."""
    if device.type != "cuda":
        return f"{device.type} {socket.gethostname()}"
    facts = torch.cuda.get_device_properties(device)
    own = getattr(facts, "uuid", None) or f"{os.environ.get(VISIBLE, '')}/{device.index}"  # PyTorch 2.6 has no uuid
    return f"cuda {socket.gethostname()} {own}"
