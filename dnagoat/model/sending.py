"""How what the host has made comes to where the model is."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor


def send(array: npt.NDArray[Any], device: torch.device) -> Tensor:
    """An array as a tensor on a device, of its shape and type.

    To a GPU it goes from pinned memory: from any other, the host first waits for all that the stream has been given to
    do (CUDA Runtime API, "API synchronization behavior").
    """
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
