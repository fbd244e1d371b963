"""A recorder of steps that any machine has: what a CUDA graph is, in PyTorch's operations instead of launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Tape(TorchDispatchMode):
    """Every operation with the very tensors that it read and wrote, so that it can be played again without Python: what
    a CUDA graph does."""

    def __init__(self) -> None:
        super().__init__()
        self.played: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        assert "_local_scalar" not in str(func), "a graph cannot ask for a number"
        out = func(*args, **(kwargs or {}))
        self.played.append((func, args, kwargs or {}, out))
        return out

    @torch.no_grad()
    def play(self) -> None:
        for func, args, kwargs, out in self.played:
            given = {x.untyped_storage().data_ptr() for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
            for held, fresh in zip(tree_leaves(out), tree_leaves(func(*args, **kwargs)), strict=True):
                if isinstance(held, Tensor) and held.untyped_storage().data_ptr() not in given:  # no view, nor in place
                    held.copy_(fresh)


class Taped:
    """Records as CUDA does, but for one thing: it cannot record without running, so that the first replay is empty."""

    def __init__(self) -> None:
        self.run_as_they_are, self.recorded, self.replayed = 0, 0, 0

    def run(self, step: Callable[[], None]) -> None:
        self.run_as_they_are += 1
        step()

    def record(self, step: Callable[[], None]) -> Callable[[], None]:
        self.recorded += 1
        with Tape() as tape:
            step()
        first = [True]

        def replay() -> None:
            self.replayed += 1
            if not first:
                tape.play()
            first.clear()

        return replay
