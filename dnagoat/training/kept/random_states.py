"""How the generators of a process (torch, CUDA, NumPy, Python) are stored as tensors and put back."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dnagoat.training.launch.processes import Processes


def random_states(group: Processes) -> dict[str, Tensor]:
    """Every process's states as `RANK/torch`, `RANK/numpy`, `RANK/python` (and `RANK/cuda`), uint8; all must ask."""
    mine = {"torch": torch.get_rng_state(), "numpy": _numpy(), "python": _python()}
    if group.device.type == "cuda":
        mine["cuda"] = torch.cuda.get_rng_state(group.device)
    return {f"{rank}/{kind}": state for kind, here in mine.items() for rank, state in enumerate(group.gather(here))}


def put_random_states(states: Mapping[str, Tensor], group: Processes) -> None:
    """Puts this process's states back; a process that the checkpoint did not know keeps what it has."""
    if f"{group.rank}/torch" not in states:
        return
    torch.set_rng_state(states[f"{group.rank}/torch"])
    numbers, real = _unpacked(states[f"{group.rank}/numpy"])
    keys = numbers[:624].astype(np.uint32)
    np.random.set_state(("MT19937", keys, int(numbers[624]), int(numbers[625]), real))  # noqa: NPY002
    words, real = _unpacked(states[f"{group.rank}/python"])
    random.setstate((3, tuple(int(word) for word in words[:625]), real if words[625] else None))
    if group.device.type == "cuda" and f"{group.rank}/cuda" in states:
        torch.cuda.set_rng_state(states[f"{group.rank}/cuda"], group.device)


def _numpy() -> Tensor:
    _, keys, place, has_gauss, gauss = np.random.get_state()  # noqa: NPY002
    return _packed([*map(int, keys), int(place), int(has_gauss)], float(gauss))


def _python() -> Tensor:
    _, words, gauss = random.getstate()
    return _packed([*words, int(gauss is not None)], gauss or 0.0)


def _packed(integers: list[int], real: float) -> Tensor:
    """Integers and one real number, 8 bytes each, as uint8."""
    packed = np.array(integers, dtype=np.int64).tobytes() + np.array([real], dtype=np.float64).tobytes()
    return torch.frombuffer(bytearray(packed), dtype=torch.uint8)


def _unpacked(packed: Tensor) -> tuple[NDArray[np.int64], float]:
    numbers = packed.numpy().view(np.int64)
    return numbers[:-1], float(numbers[-1:].view(np.float64)[0])
