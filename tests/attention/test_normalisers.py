"""Laws of the normalisers: weights sum to one, zeros are exact, masked keys get nothing, any prior goes with each."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dnagoat.attention.normalisers import NORMALISERS, Entmax
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.transformer import DnaLM

SPARSE = ("sparsemax", "entmax15", "entmax")


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sparse_weights_sum_to_one_with_exact_zeros(name: str, dtype: torch.dtype) -> None:
    scores = 3 * torch.randn(2, 4, 50, 200, dtype=dtype)
    weights = NORMALISERS[name](4)(scores)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 50, dtype=dtype))
    assert (weights >= 0).all()
    assert (weights == 0).float().mean() > 0.5


@pytest.mark.parametrize("name", NORMALISERS)
def test_a_constant_a_row_changes_nothing(name: str) -> None:
    scores = torch.randn(1, 2, 9, 30, dtype=torch.float64)
    normalise = NORMALISERS[name](2)
    torch.testing.assert_close(normalise(scores), normalise(scores + 700 * torch.randn(1, 2, 9, 1).double()))


def test_entmax_starts_as_entmax15_and_learns_its_alpha() -> None:
    scores = torch.randn(2, 3, 5, 40, dtype=torch.float64)
    learned = Entmax(3).double()
    weights = learned(scores)
    torch.testing.assert_close(weights, NORMALISERS["entmax15"](3)(scores), rtol=0, atol=1e-8)
    (weights * torch.randn_like(weights)).sum().backward()
    assert learned.shape.grad is not None and (learned.shape.grad != 0).all()
    learned.shape.data.fill_(20.0)  # alpha = 2
    torch.testing.assert_close(learned(scores), NORMALISERS["sparsemax"](3)(scores), rtol=0, atol=1e-6)


@pytest.mark.parametrize("position", ["nope", "rope", "rope+bias", "alibi", "goat", "goat+rope", "t5", "fire"])
@pytest.mark.parametrize("normaliser", SPARSE)
def test_every_prior_goes_with_every_normaliser(position: Any, normaliser: Any) -> None:
    config = ModelConfig(layers=2, position=PositionConfig(name=position), normaliser=normaliser)
    model = DnaLM(config).double()
    codes = torch.randint(0, 5, (2, 40))
    logits = model(codes)
    changed = codes.clone()
    changed[:, 25:] = 3 - changed[:, 25:].clamp(max=3)
    torch.testing.assert_close(model(changed)[:, :25], logits[:, :25], rtol=0, atol=1e-12)  # masked keys get nothing
    logits.sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("normaliser", SPARSE)
def test_steep_priors_at_length_stay_finite_in_float32(normaliser: Any) -> None:
    config = ModelConfig(layers=1, position=PositionConfig(name="alibi"), normaliser=normaliser)
    model, exact = DnaLM(config), DnaLM(config).double()
    codes = torch.randint(0, 4, (1, 700))
    torch.testing.assert_close(model(codes).double(), exact(codes), rtol=0, atol=1e-5)
