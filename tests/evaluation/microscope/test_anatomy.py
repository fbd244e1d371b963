"""How far content moves attention from its prior: a law of probability, and finite where the prior is steep."""

from __future__ import annotations

import torch

from dnagoat.evaluation.microscope.anatomy import divergence, normalised, tightness

ALLOWED = torch.ones(6, 6, dtype=torch.bool).tril()


def attention(log_prior: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
    return (log_prior + content).masked_fill(~ALLOWED, -torch.inf).softmax(-1)


def test_divergence_is_the_sum_over_keys_and_none_without_content() -> None:
    torch.manual_seed(0)
    prior, content = torch.randn(6, 6), torch.randn(6, 6)
    weights, expected = attention(prior, content), normalised(prior, ALLOWED)
    by_hand = [
        sum(float(w * (w / p).log()) for w, p in zip(weights[i, : i + 1], expected[i, : i + 1], strict=True))
        for i in range(6)
    ]
    torch.testing.assert_close(divergence(weights, prior, ALLOWED), torch.tensor(by_hand))
    torch.testing.assert_close(divergence(attention(prior, 0 * content), prior, ALLOWED), torch.zeros(6))


def test_a_prior_of_hundreds_of_nats_is_measured() -> None:
    """Its smallest weights are 0 in float32, and content has brought one of them back."""
    prior, content = torch.zeros(6, 6), torch.zeros(6, 6)
    prior[5, 0], content[5, 0] = -300.0, 300.0
    weights = attention(prior, content)
    assert normalised(prior, ALLOWED)[5, 0] == 0
    moved = float(divergence(weights, prior, ALLOWED)[5])
    assert abs(moved - (300 / 6 + torch.log(torch.tensor(5 / 6)))) < 1e-3
    assert 0.99 < float(tightness(weights, prior, content, ALLOWED)[5]) <= 1
