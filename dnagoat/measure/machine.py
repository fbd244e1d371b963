"""What this machine offers: versions, devices, and which attention kernels really run here, each tried once."""

from __future__ import annotations

import os
import platform
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

import dnagoat
from dnagoat.attention.kernels import flash_fault

PACKAGES: Final = ("torch", "numpy", "scipy", "pandas", "pyfaidx", "biopython", "flash-attn", "tensorboard", "pyBigWig")
FUSED: Final = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}


def machine() -> dict[str, Any]:
    """Versions (None where not installed), processor, memory in bytes, CUDA devices, attention kernels.

    `kernels`: the names that `--kernel` takes, with None or the reason why not. `sdpa`: whether each of the routines
    that PyTorch chooses from by itself runs here.
    """
    return {
        "versions": {"dnagoat": dnagoat.__version__, "Python": platform.python_version()}
        | {name: _version(name) for name in PACKAGES},
        "cpu": {"cores": os.cpu_count(), "threads": torch.get_num_threads(), "memory": _memory()},
        "cuda": {
            "version": torch.version.cuda,
            "devices": [_device(index) for index in range(torch.cuda.device_count())],
        },
        "kernels": {"sdpa": None, "flash": flash_fault(), "dense": None},
        "sdpa": {name: _runs(backend) for name, backend in FUSED.items()},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _device(index: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    return {
        "name": properties.name,
        "memory": properties.total_memory,
        "capability": f"{properties.major}.{properties.minor}",
        "bf16": torch.cuda.is_bf16_supported(including_emulation=False),
    }


def _runs(backend: SDPBackend) -> bool:
    """Whether a routine takes one causal bfloat16 head of width 64: what PyTorch enables may still not run."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.zeros(1, 1, 8, 64, device=device, dtype=torch.bfloat16)
    with warnings.catch_warnings(), sdpa_kernel([backend]):
        warnings.simplefilter("ignore")  # PyTorch warns of each thing that it dislikes before it refuses
        try:
            scaled_dot_product_attention(x, x, x, is_causal=True)
        except RuntimeError:
            return False
    return True
