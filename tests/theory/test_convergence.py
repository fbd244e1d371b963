"""How far content can carry attention from its prior, and how a sink's margin splits in content and prior."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from dnagoat.evaluation.microscope.anatomy import (
    causal,
    content_range,
    divergence_from_uniform,
    effective_reach,
    margin,
    normalised,
    tightness,
)

SEEDS = range(6)
T = 12


def draw(seed: int, spread: float = 1.0) -> tuple[Tensor, Tensor, float]:
    """Scores and log-priors of three heads, (3, T, T) float64, and a temperature."""
    random = torch.Generator().manual_seed(seed)
    s, k = torch.randn(2, 3, T, T, dtype=torch.float64, generator=random)
    return s * spread, k * 2, 0.3 + float(torch.rand((), generator=random))


def attention(s: Tensor, k: Tensor, tau: float) -> Tensor:
    return (s / tau + k).masked_fill(~causal(T, T), -torch.inf).softmax(-1)


def bounds(k: Tensor, omega: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """pi exp(-omega) <= p <= pi exp(omega), GOAT paper's convergence theorem (arXiv 2601.15380)."""
    prior, reach = normalised(k, allowed), omega.unsqueeze(-1)
    return prior * (-reach).exp(), prior * reach.exp()


@pytest.mark.parametrize("spread", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_attention_lies_between_the_prior_times_exp_of_minus_and_plus_omega(seed: int, spread: float) -> None:
    s, k, tau = draw(seed, spread)
    p = attention(s, k, tau)
    low, high = bounds(k, content_range(s, causal(T, T), tau), causal(T, T))
    assert (low <= p * (1 + 1e-12)).all()
    assert (p <= high * (1 + 1e-12)).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bounds_hold_for_keys_that_differ_by_omega_and_for_nothing_less(seed: int) -> None:
    """One key at the bottom, all others at the top, the top nearly massless: the weight goes to pi exp(omega)."""
    omega = 1.0 + seed
    k = torch.tensor([[0.0, -40.0]], dtype=torch.float64)
    s = torch.tensor([[0.0, omega]], dtype=torch.float64)
    allowed = torch.ones(1, 2, dtype=torch.bool)
    p = (s + k).softmax(-1)
    _, high = bounds(k, content_range(s, allowed), allowed)
    assert p[0, 1] == pytest.approx(float(high[0, 1]), rel=1e-12)
    assert p[0, 1] > bounds(k, torch.tensor([omega * 0.99]), allowed)[1][0, 1]
    assert float(tightness(p, k, s, allowed)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_content_attention_is_the_prior(seed: int) -> None:
    s, k, tau = draw(seed)
    p = attention(torch.zeros_like(s), k, tau)
    torch.testing.assert_close(p, normalised(k, causal(T, T)))
    assert not tightness(p, k, torch.zeros_like(s), causal(T, T)).any()
    used = tightness(attention(s, k, tau), k, s, causal(T, T), tau)
    assert ((used >= 0) & (used <= 1 + 1e-12)).all() and (used[:, 1:] > 0.05).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_omega_ignores_keys_that_are_not_allowed(seed: int) -> None:
    s, _, tau = draw(seed)
    future = s.masked_fill(~causal(T, T), 1e9)
    torch.testing.assert_close(content_range(future, causal(T, T), tau), content_range(s, causal(T, T), tau))
    assert not content_range(s, causal(T, T), tau)[:, 0].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_key_is_a_sink_exactly_where_its_margin_is_positive(seed: int) -> None:
    s, k, tau = draw(seed)
    lead = margin(s / tau, k, 0, causal(T, T))
    first_wins = attention(s, k, tau).argmax(-1) == 0
    assert torch.equal(lead.total[:, 1:] > 0, first_wins[:, 1:])
    assert lead.total[:, 0].isnan().all()  # alone with itself, a key beats nobody


@pytest.mark.parametrize("seed", SEEDS)
def test_the_margin_is_a_content_plus_a_prior_difference_at_the_same_competitor(seed: int) -> None:
    s, k, tau = draw(seed)
    lead, z = margin(s / tau, k, 0, causal(T, T)), (s / tau + k).masked_fill(~causal(T, T), -torch.inf)
    torch.testing.assert_close(lead.total[:, 1:], z[:, 1:, 0] - z[:, 1:, 1:].amax(-1))
    for head, query in [(0, 5), (1, T - 1), (2, 3)]:
        rival = int(lead.competitor[head, query])
        assert rival == int(z[head, query, 1:].argmax()) + 1
        content = (s[head, query, 0] - s[head, query, rival]) / tau
        torch.testing.assert_close(lead.content[head, query], content)
        torch.testing.assert_close(lead.prior[head, query], k[head, query, 0] - k[head, query, rival])


def test_the_minimum_of_a_sum_is_not_the_sum_of_two_minima() -> None:
    content, prior = torch.tensor([[0.0, 3.0, -3.0]]), torch.tensor([[0.0, -3.0, 3.0]])
    lead = margin(content, prior, 0, torch.ones(1, 3, dtype=torch.bool))
    assert float(lead.total) == 0.0
    assert float((content[0, 0] - content[0, 1:].max()) + (prior[0, 0] - prior[0, 1:].max())) == -6.0


def test_a_row_constant_changes_none_of_it() -> None:
    s, k, tau = draw(0)
    allowed, rows = causal(T, T), torch.arange(T, dtype=torch.float64)[:, None]
    one, other = margin(s / tau, k, 0, allowed), margin(s / tau + rows, k - 7 * rows, 0, allowed)
    torch.testing.assert_close(one.total, other.total, equal_nan=True)
    torch.testing.assert_close(divergence_from_uniform(k, allowed), divergence_from_uniform(k + rows, allowed))


def test_divergence_from_uniform_of_known_priors() -> None:
    allowed = torch.ones(1, 8, dtype=torch.bool)
    assert float(divergence_from_uniform(torch.zeros(1, 8), allowed)) == pytest.approx(0.0, abs=1e-6)
    one_key = torch.full((1, 8), -torch.inf)
    one_key[0, 3] = 0.0
    assert float(divergence_from_uniform(one_key, allowed)) == pytest.approx(math.log(8))


def test_effective_reach_of_known_priors() -> None:
    allowed = causal(1, 100)
    assert int(effective_reach(torch.zeros(1, 100), allowed, 0.5)) == 49  # 50 of 100 keys: distances 0 to 49
    slope = 0.1
    recency = slope * torch.arange(100, dtype=torch.float64)[None, :]
    by_formula = math.log(1 / (1 - 0.95 * (1 - math.exp(-slope * 100)))) / slope
    assert int(effective_reach(recency, allowed, 0.95)) == math.ceil(by_formula) - 1
