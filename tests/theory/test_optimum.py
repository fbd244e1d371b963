"""Attention is the solution of a regularised problem: found again by a convex solver that knows nothing of softmax.

p* = argmin over the simplex of  <p, -s> + Omega(p)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.optimize import LinearConstraint, minimize

from dnagoat.attention.kernels import kernel_for
from dnagoat.attention.normalisers import NORMALISERS
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.registry import scheme_for
from dnagoat.config import ModelConfig, PositionConfig

Array = np.ndarray
SEEDS = range(6)
KEYS = 6


def solve(scores: Array, omega: Callable[[Array], float], gradient: Callable[[Array], Array]) -> Array:
    """argmin of <p, -s> + omega(p) over the simplex, by sequential quadratic programming from the centre."""
    found = minimize(  # type: ignore[call-overload]
        lambda p: omega(p) - p @ scores,
        np.full(len(scores), 1 / len(scores)),
        jac=lambda p: gradient(p) - scores,
        method="SLSQP",
        bounds=[(1e-12, 1.0)] * len(scores),
        constraints=[LinearConstraint(np.ones(len(scores)), 1.0, 1.0)],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    # 8: no step helps any more, as at the edge of the simplex, where rounding is all that is left; callers compare.
    assert found.success or found.status == 8, found.message
    return np.asarray(found.x)


def attend(name: str, logits: Array) -> Array:
    """The product's own normaliser on one row of logits."""
    with torch.no_grad():
        return NORMALISERS[name](1)(torch.from_numpy(logits)[None, None, None]).flatten().numpy()


def draw(seed: int) -> tuple[Array, Array, float]:
    """Scores, a prior inside the simplex, and a temperature."""
    random = np.random.default_rng(seed)
    return random.normal(size=KEYS), random.dirichlet(np.full(KEYS, 2.0)), float(random.uniform(0.3, 3.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_kl_regularised_optimum_is_softmax_of_scores_over_tau_plus_log_prior(seed: int) -> None:
    s, pi, tau = draw(seed)
    solved = solve(s, lambda p: tau * float(p @ np.log(p / pi)), lambda p: tau * (np.log(p / pi) + 1))
    np.testing.assert_allclose(attend("softmax", s / tau + np.log(pi)), solved, atol=2e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_alibi_is_a_penalty_on_distance(seed: int) -> None:
    s, _, tau = draw(seed)
    gamma, distance = 0.7, np.arange(KEYS)[::-1]
    solved = solve(
        s,
        lambda p: float(gamma * p @ distance + tau * p @ np.log(p)),
        lambda p: gamma * distance + tau * (np.log(p) + 1),
    )
    np.testing.assert_allclose(attend("softmax", (s - gamma * distance) / tau), solved, atol=2e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_sparsemax_is_the_quadratic_regulariser(seed: int) -> None:
    s, _, _ = draw(seed)
    solved = solve(s, lambda p: float(p @ p) / 2, lambda p: p)
    weights = attend("sparsemax", s)
    np.testing.assert_allclose(weights, solved, atol=2e-6)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", ["entmax15", "entmax"])  # a learned alpha starts at 1.5
@pytest.mark.parametrize("seed", SEEDS)
def test_entmax_is_the_tsallis_regulariser(name: str, seed: int) -> None:
    s, _, _ = draw(seed)
    alpha = 1.5
    solved = solve(
        s,
        lambda p: float((p**alpha - p).sum()) / (alpha * (alpha - 1)),
        lambda p: (alpha * p ** (alpha - 1) - 1) / (alpha * (alpha - 1)),
    )
    np.testing.assert_allclose(attend(name, s), solved, atol=5e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_towards_tau_0_the_best_scores_share_by_their_prior(seed: int) -> None:
    s, pi, _ = draw(seed)
    s[2] = s[4] = s.max() + 0.5
    limit = np.zeros(KEYS)
    limit[[2, 4]] = pi[[2, 4]] / pi[[2, 4]].sum()
    np.testing.assert_allclose(attend("softmax", s / 1e-3 + np.log(pi)), limit, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_towards_tau_infinity_attention_is_the_prior(seed: int) -> None:
    s, pi, _ = draw(seed)
    gaps = [np.abs(attend("softmax", s / tau + np.log(pi)) - pi).max() for tau in (1e2, 1e4, 1e6)]
    assert gaps[-1] < 1e-5
    np.testing.assert_allclose(np.array(gaps[:-1]) / np.array(gaps[1:]), 100, rtol=0.05)  # first order in 1 / tau


PRIOR_SHIFT: dict[str, Callable[[Array], Array]] = {  # grad Omega(pi), up to a constant
    "softmax": np.log,
    "sparsemax": lambda pi: pi,
    "entmax15": lambda pi: pi**0.5 / 0.5,
}
REGULARISER: dict[str, tuple[Callable[[Array], float], Callable[[Array], Array]]] = {
    "softmax": (lambda p: float(p @ np.log(p)), lambda p: np.log(p) + 1),
    "sparsemax": (lambda p: float(p @ p) / 2, lambda p: p),
    "entmax15": (lambda p: float((p**1.5 - p).sum()) / 0.75, lambda p: (1.5 * p**0.5 - 1) / 0.75),
}


@pytest.mark.parametrize("name", PRIOR_SHIFT)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_bregman_prior_is_returned_where_there_is_no_content(name: str, seed: int) -> None:
    _, pi, _ = draw(seed)
    np.testing.assert_allclose(attend(name, PRIOR_SHIFT[name](pi)), pi, atol=1e-7)


@pytest.mark.parametrize("name", PRIOR_SHIFT)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_bregman_prior_solves_the_bregman_problem(name: str, seed: int) -> None:
    s, pi, _ = draw(seed)
    omega, slope = REGULARISER[name]
    solved = solve(s, lambda p: omega(p) - omega(pi) - float(slope(pi) @ (p - pi)), lambda p: slope(p) - slope(pi))
    np.testing.assert_allclose(attend(name, s + PRIOR_SHIFT[name](pi)), solved, atol=5e-6)


@pytest.mark.parametrize("name", PRIOR_SHIFT)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_linear_reward_prior_solves_the_problem_with_the_prior_among_the_scores(name: str, seed: int) -> None:
    s, pi, tau = draw(seed)
    omega, slope = REGULARISER[name]
    reward = s / tau + np.log(pi)
    np.testing.assert_allclose(attend(name, reward), solve(reward, omega, slope), atol=5e-6)


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
def test_a_linear_reward_prior_is_not_returned_by_the_sparse_ones(name: str) -> None:
    _, pi, _ = draw(0)
    assert np.abs(attend(name, np.log(pi)) - pi).max() > 0.01


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
@pytest.mark.parametrize("seed", SEEDS)
def test_sparse_weights_sum_to_one_with_exact_zeros(name: str, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(scale=4.0, size=40)
    weights = attend(name, scores)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (weights == 0).sum() > 20
    assert set(np.argsort(scores)[::-1][: (weights > 0).sum()]) == set(np.flatnonzero(weights))


@pytest.mark.parametrize("normaliser", ["softmax", "sparsemax", "entmax15"])
@pytest.mark.parametrize("name", ["nope", "alibi", "goat"])
def test_what_a_whole_head_computes_is_the_optimum_for_its_own_prior(name: str, normaliser: str) -> None:
    """The last query of a head with content and lanes, its weights read through identity values."""
    config = ModelConfig(width=48, heads=1, layers=1, position=PositionConfig(name=name))
    scheme = scheme_for(config, 0).double()
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in scheme.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=random, dtype=torch.float64) - 0.3)
    scheme.constrain()

    at, c = torch.arange(9), scheme.content
    q, k = torch.randn(2, 1, 1, 9, c, generator=random, dtype=torch.float64)
    s = (q[0, 0, -1] @ k[0, 0].T / np.sqrt(c)).numpy()
    log_prior = scheme.log_prior(at, at)[0, -1].numpy()
    lanes = scheme.lanes_at(At(at))
    if lanes is not None:
        q, k = (torch.cat([x, lane[None]], dim=-1) for x, lane in zip((q, k), lanes, strict=True))
    identity = torch.eye(9, dtype=torch.float64)[None, None]
    kernel = kernel_for("auto", normaliser, NORMALISERS[normaliser](1))
    with torch.no_grad():
        weights = kernel(q, k, identity, 1 / scheme.root, True, None)[0, 0, -1].numpy()

    pi = np.exp(log_prior - log_prior.max())
    pi /= pi.sum()
    if normaliser == "softmax":
        solved = solve(s, lambda p: float(p @ np.log(p / pi)), lambda p: np.log(p / pi) + 1)
    else:  # a sparse one takes the log-prior as a reward
        solved = solve(s + log_prior, *REGULARISER[normaliser])
    np.testing.assert_allclose(weights, solved, atol=5e-6)
    assert (name == "nope") == (np.ptp(log_prior) == 0)
