"""What this machine offers: versions, devices, and which attention kernels are usable on it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from dnagoat import __version__
from dnagoat.attention.fast.subnormals import flush_subnormals, subnormals
from dnagoat.attention.kernels import DENSE_LIMIT, flash_fault
from dnagoat.training.launch.devices import idle_gpu, nvidia_driver

PACKAGES = ("torch", "numpy", "pandas", "scipy", "biopython", "pyfaidx", "safetensors", "entmax", "flash-attn")


def environment() -> dict[str, Any]:
    """Versions (None where a package is absent; the CUDA that torch is built for, and NVIDIA's driver), devices, why a
    GPU that is here cannot be used, and kernels with None or the reason against each."""
    return {
        "dnagoat": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "cuda": torch.version.cuda,
        "driver": nvidia_driver(),
        "idle_gpu": idle_gpu(),
        "devices": [_cpu(), *(_gpu(index) for index in range(torch.cuda.device_count()))],
        "kernels": {
            "sdpa": None,
            "flash": flash_fault(),
            "dense": None,
        },
        "dense_limit": DENSE_LIMIT,
        "subnormals": _subnormals(),
    }


def _subnormals() -> str:
    """What becomes of them where the library computes."""
    with flush_subnormals():
        return subnormals()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    capability = torch.backends.cpu.get_cpu_capability()
    return {"device": "cpu", "name": f"{platform.machine()}, {capability}", "cores": os.cpu_count(), "memory": memory}


def _gpu(index: int) -> dict[str, Any]:
    facts = torch.cuda.get_device_properties(index)
    return {
        "device": f"cuda:{index}",
        "name": facts.name,
        "cores": facts.multi_processor_count,
        "memory": facts.total_memory,
    }
