"""The gradient of attention is an advantage, and a Fisher matrix stands between the two."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.autograd.functional import hessian

from dnagoat.attention.normalisers import NORMALISERS

SEEDS = range(6)
KEYS = 7


def draw(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores, log-prior, values of a linear-plus-curved loss over the weights, and a temperature; float64."""
    random = torch.Generator().manual_seed(seed)
    s, k, values = torch.randn(3, KEYS, dtype=torch.float64, generator=random)
    return s, k, values, torch.rand((), dtype=torch.float64, generator=random) + 0.3


def weights(s: Tensor, k: Tensor, tau: Tensor) -> Tensor:
    return NORMALISERS["softmax"](1)((s / tau + k)[None, :]).squeeze(0)


def fisher(p: Tensor) -> Tensor:
    return torch.diag(p) - torch.outer(p, p)


def slopes(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """p, A = dL/dp, dL/ds and tau for the loss L = sum_j v_j p_j + p_j^2, through the product's softmax."""
    s, k, values, tau = draw(seed)
    s.requires_grad_()
    p = weights(s, k, tau)
    p.retain_grad()
    (values @ p + p @ p).backward()
    assert p.grad is not None and s.grad is not None
    return p.detach(), p.grad, s.grad, tau


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradient_is_probability_times_advantage_over_tau(seed: int) -> None:
    p, worth, gradient, tau = slopes(seed)
    torch.testing.assert_close(gradient, p * (worth - p @ worth) / tau)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_negative_gradient_is_a_policy_gradient_with_a_baseline(seed: int) -> None:
    """-dL/ds = E_p[ advantage_j grad_s log p_j ]: REINFORCE on the reward -dL/dp; a baseline changes nothing."""
    p, worth, gradient, tau = slopes(seed)
    score_function = (torch.eye(KEYS, dtype=torch.float64) - p) / tau  # row j: grad_s log p_j
    for baseline in (0.0, float(-p @ worth), 3.0):
        policy = (p * (-worth - baseline)) @ score_function
        torch.testing.assert_close(policy, -gradient)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_potential_is_logsumexp_with_softmax_gradient_and_fisher_hessian(seed: int) -> None:
    s, k, _, tau = draw(seed)

    def potential(scores: Tensor) -> Tensor:
        return tau * torch.logsumexp(scores / tau + k, dim=0)

    s.requires_grad_()
    (gradient,) = torch.autograd.grad(potential(s), s)
    p = weights(s, k, tau).detach()
    torch.testing.assert_close(gradient, p)
    torch.testing.assert_close(hessian(potential, s.detach()), fisher(p) / tau)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_natural_gradient_is_the_worth_minus_its_mean(seed: int) -> None:
    p, worth, gradient, tau = slopes(seed)
    natural = tau * torch.linalg.pinv(fisher(p), hermitian=True) @ gradient
    torch.testing.assert_close(natural, worth - worth.mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_fisher_matrix_loses_exactly_the_row_constant(seed: int) -> None:
    s, k, _, tau = draw(seed)
    f = fisher(weights(s, k, tau))
    assert torch.linalg.matrix_rank(f, hermitian=True) == KEYS - 1
    torch.testing.assert_close(f @ torch.ones(KEYS, dtype=torch.float64), torch.zeros(KEYS, dtype=torch.float64))
    torch.testing.assert_close(weights(s + 5.0, k - 2.0, tau), weights(s, k, tau))
