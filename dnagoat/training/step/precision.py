"""In which number format a step computes; weights and optimizer stay float32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

from dnagoat.config import TrainConfig

HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}


def computing(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Autocast for bf16 and fp16; nothing for fp32 and tf32."""
    if precision in HALF:
        return torch.autocast(device.type, HALF[precision])
    return nullcontext()


@contextmanager
def matrix_products(precision: str) -> Iterator[None]:
    """TF32 on the tensor cores where it was asked for and nowhere else; the earlier setting comes back."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def scaler(train: TrainConfig, device: torch.device) -> torch.amp.GradScaler:
    """Scales the loss so that float16 gradients do not vanish; does nothing for the other formats."""
    return torch.amp.GradScaler(device.type, enabled=train.precision == "fp16")
