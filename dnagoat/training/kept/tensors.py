"""Tensors as a safetensors file, whose faults are those of any file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

_SYSTEM = re.compile(r"\(os error (\d+)\)")


def save_tensors(tensors: Mapping[str, Tensor], file: Path, metadata: dict[str, str] | None = None) -> None:
    """Writes them, readable as other files are: safetensors makes files for their owner alone.

    What the disk refuses is an `OSError` with its number and the file; safetensors has a fault of its own for it.
    """
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, file, metadata)
    except SafetensorError as fault:
        if (said := _SYSTEM.search(str(fault))) is None:
            raise
        raise OSError(int(said[1]), os.strerror(int(said[1])), str(file)) from None
    file.chmod(0o666 & ~_umask())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
