"""Which attention kernel a model really runs in training, observed on one window and never assumed."""

# T symbols

from __future__ import annotations

import torch

from dnagoat.attention.proof.kernel import kernel_of
from dnagoat.model.transformer import DnaLM
from dnagoat.training.step.precision import computing


def kernel_ran(model: DnaLM, precision: str) -> str:
    """The name of the routine, in the run's precision and on the model's device."""
    device = next(model.parameters()).device
    codes = torch.zeros((1, model.config.context), dtype=torch.int64, device=device)
    with computing(precision, device):
        said = model.memory.blank(codes.shape[0], codes.shape[1], device) if model.memory else None
        return kernel_of(lambda: model.forward(codes, None, said))
