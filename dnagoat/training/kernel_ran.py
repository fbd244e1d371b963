"""Which attention kernel a model really runs, found by listening to its operators, never assumed."""

# B windows, T symbols

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dnagoat.model import DnaLM
from dnagoat.training.precision import computing

SIGNS = ("scaled_dot_product", "flash_attn", "flash_attention", "efficient_attention")


class _Listening(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Collects the names of attention operators; plain products are what is left when there are none."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.heard: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(func).removesuffix(".default")
        if any(sign in name for sign in SIGNS):
            self.heard.append(name)
        return func(*args, **(kwargs or {}))


def kernel_ran(model: DnaLM, precision: str) -> str:
    """The operators that attention uses in training on one window; `dense` where only matrix products were heard."""
    device = next(model.parameters()).device
    codes = torch.zeros((1, model.config.context), dtype=torch.int64, device=device)
    with _Listening() as listening, computing(precision, device):
        model.forward(codes)
    return ", ".join(dict.fromkeys(listening.heard)) or "dense"
