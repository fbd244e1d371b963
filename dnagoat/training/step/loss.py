"""What is minimised: nats over scored bases, always as a sum and a count, never as a mean of means.

N becomes "not scored" where targets are made, in `genome.batches.to_inputs_targets`: its target is IGNORE.
"""

# B windows, W window width, T targets, C classes

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from dnagoat.genome.alphabet import Codes, N
from dnagoat.genome.batches import IGNORE, to_inputs_targets
from dnagoat.model.sending import send
from dnagoat.model.transformer import DnaLM


def inputs_targets(codes: Codes, classes: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """What the model reads and what it must say, int64 (B, T) on `device`, from codes (B, W).

    A model of five classes follows the authors' protocol: no start symbol, T = W - 1, N scored; else T = W.
    """
    inputs, targets = to_inputs_targets(codes, score_n=classes == 5)
    return send(inputs, device), send(targets, device)


def scored(targets: Tensor) -> Tensor:
    """Which targets count (B, T) bool."""
    return targets != IGNORE


def count_scored(codes: Codes, classes: int) -> int:
    """How many bases of windows (B, W) are scored, counted where the codes are: a GPU would have to be waited for."""
    return codes[:, 1:].size if classes == 5 else int((codes != N).sum())


def summed_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Sum of nats over the scored targets (B, T); the caller divides by the scored bases of the effective batch."""
    flat = logits.float().flatten(0, 1)
    return functional.cross_entropy(flat, targets.flatten(), ignore_index=IGNORE, reduction="sum")


def base_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Nats of each target (B, T) in float32 under logits (B, T, C); 0 where the target is IGNORE."""
    flat = logits.float().flatten(0, 1)
    losses = functional.cross_entropy(flat, targets.flatten(), ignore_index=IGNORE, reduction="none")
    return losses.view_as(targets)


@torch.no_grad()
def window_losses(model: DnaLM, codes: Codes) -> Tensor:
    """Nats of each base of windows (B, W), on the model's device in float32; 0 at bases that are not scored (N).

    (B, W), or (B, W - 1) for a model of five classes, where N is scored.
    """
    inputs, targets = inputs_targets(codes, model.config.classes, next(model.parameters()).device)
    return base_losses(model(inputs), targets)
