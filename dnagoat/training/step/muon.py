"""Muon (https://kellerjordan.github.io/posts/muon) for the matrices of the blocks, AdamW for all the rest.

A step of Muon is the momentum of a matrix made nearly orthogonal: all its directions move equally far. Its length is
0.2 sqrt(larger side), that of a typical AdamW step, so that one learning rate and one decay serve both (arXiv
2502.16982, `match_rms_adamw` of `torch.optim.Muon`). Embeddings, biases, norms, positions and what weighs memory have
no directions to even out and stay with AdamW.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.distributed.tensor import DTensor
from torch.optim import AdamW, Optimizer

from dnagoat.errors import OptionError
from dnagoat.model.transformer import DnaLM

MOMENTUM = 0.95  # of both sources
SHARDED = "Muon needs whole matrices, and FSDP shards them; give `dnagoat train --optimizer adamw`, or --parallel ddp"


def hidden_matrices(model: DnaLM) -> dict[str, nn.Parameter]:
    """What Muon moves, by name: the weights of attention and MLP that are no position's."""
    positions = model.position_parameters()
    named = model.named_parameters()
    return {n: p for n, p in named if n.startswith("blocks.") and p.ndim == 2 and n not in positions}


class MuonBesideAdamW(Optimizer):
    """The two as one optimizer with one state: a step is of both, or of neither where `found_inf` says so."""

    found_inf: torch.Tensor | None = None

    def __init__(self, matrices: dict[str, Any], adamw: AdamW, lr: float) -> None:
        if any(isinstance(matrix, DTensor) for matrix in matrices["params"]):
            raise OptionError(SHARDED)
        muon = torch.optim.Muon([matrices], lr=lr, momentum=MOMENTUM, adjust_lr_fn="match_rms_adamw")
        super().__init__([*muon.param_groups, *adamw.param_groups], {})
        self.both: tuple[Optimizer, ...] = (muon, adamw)
        for optimizer in self.both:
            optimizer.state = self.state

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Asks the device whether the gradient is finite, and so waits for it: Muon cannot decide it there."""
        if self.found_inf is None or not self.found_inf:
            for optimizer in self.both:
                optimizer.step()
