"""The loss is a sum over scored bases and a count of them; N is never a target, except in the authors' protocol."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dnagoat.config import RunConfig
from dnagoat.counts.memory.features import Features
from dnagoat.model.memory import tensors
from dnagoat.model.transformer import DnaLM
from dnagoat.training.step.loss import base_losses, count_scored, inputs_targets, scored, summed_loss, window_losses

CPU = torch.device("cpu")
CODES = np.array([[0, 1, 4, 3, 2, 2], [4, 4, 4, 4, 4, 4]], dtype=np.uint8)


def test_n_costs_nothing_and_the_rest_is_the_negative_log_of_its_share(config: RunConfig) -> None:
    _, targets = inputs_targets(CODES, 4, CPU)
    logits = torch.randn(2, 6, 4)
    losses = base_losses(logits, targets)
    expected = -logits[0].softmax(-1).log()[[0, 1, 3, 4, 5], [0, 1, 3, 2, 2]]
    assert torch.allclose(losses[0, [0, 1, 3, 4, 5]], expected)
    assert losses[0, 2] == 0 and (losses[1] == 0).all()
    assert torch.allclose(summed_loss(logits, targets), expected.sum())


def test_what_goes_to_a_gpu_is_pinned_and_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows, and what memory says of them."""
    pinned: list[Tensor] = []
    sent: list[tuple[bool, torch.device, bool]] = []

    def pin(tensor: Tensor) -> Tensor:
        pinned.append(tensor.clone())
        return pinned[-1]

    def to(tensor: Tensor, device: torch.device, non_blocking: bool = False) -> Tensor:
        sent.append((any(tensor is one for one in pinned), device, non_blocking))
        return tensor

    gpu = torch.device("cuda")
    monkeypatch.setattr(Tensor, "pin_memory", pin)
    monkeypatch.setattr(Tensor, "to", to)
    inputs_targets(CODES, 4, gpu)
    tensors(Features(*(np.zeros((2, 6), np.float32) for _ in Features._fields)), gpu)
    assert sent == [(True, gpu, True)] * (2 + len(Features._fields))


@pytest.mark.parametrize("classes", [4, 5])
def test_the_count_is_that_of_the_targets(classes: int) -> None:
    _, targets = inputs_targets(CODES, classes, CPU)
    assert count_scored(CODES, classes) == int(scored(targets).sum()) == (5 if classes == 4 else 10)


def test_the_authors_protocol_scores_n_and_skips_the_first(config: RunConfig) -> None:
    inputs, targets = inputs_targets(CODES, 5, CPU)
    assert inputs.tolist() == CODES[:, :-1].tolist() and targets.tolist() == CODES[:, 1:].tolist()


def test_losses_of_windows_by_base(config: RunConfig) -> None:
    four, five = DnaLM(config.model), DnaLM(config.model.but(classes=5))
    losses = window_losses(four, CODES)
    assert losses.shape == (2, 6) and (losses[0] > 0).tolist() == [True, True, False, True, True, True]
    assert window_losses(five, CODES).shape == (2, 5) and (window_losses(five, CODES) > 0).all()
    assert losses[losses > 0].mean().item() == pytest.approx(math.log(4), abs=0.3)  # an untrained model guesses
