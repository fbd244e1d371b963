"""Momentum is a filter and a shear: its transfer function, its two determinants, and the four terms of its score."""

from __future__ import annotations

import cmath
import math

import pytest
import torch
from torch import Tensor

from dnagoat.attention.schemes.momentum import shear

STRENGTHS = [0.0, 0.3, 1.0, 2.0]


def sheared(x: Tensor, g: float) -> Tensor:
    """The product's shear of one sequence (T, C)."""
    return shear(x[None, None], torch.tensor(g, dtype=x.dtype), None)[0, 0]


@pytest.mark.parametrize("g", STRENGTHS)
@pytest.mark.parametrize("omega", [0.0, 0.1, 1.0, 2 * math.pi / 3, math.pi])
def test_the_transfer_function_is_1_plus_g_times_1_minus_exp_of_minus_j_omega(g: float, omega: float) -> None:
    steps = torch.arange(64, dtype=torch.float64)
    wave = torch.stack([(omega * steps).cos(), (omega * steps).sin()], dim=-1)
    answer = sheared(wave, g)[1:]  # the first position has no past
    transfer = 1 + g * (1 - cmath.exp(-1j * omega))
    expected = torch.view_as_real(torch.view_as_complex(wave[1:].contiguous()) * transfer)
    torch.testing.assert_close(answer, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("g", STRENGTHS)
def test_a_constant_passes_unchanged_and_an_alternation_grows_by_1_plus_2g(g: float) -> None:
    constant = torch.ones(8, 1, dtype=torch.float64)
    alternation = torch.tensor([[(-1.0) ** t] for t in range(8)], dtype=torch.float64)
    torch.testing.assert_close(sheared(constant, g), constant)
    torch.testing.assert_close(sheared(alternation, g)[1:], (1 + 2 * g) * alternation[1:])


@pytest.mark.parametrize("g", STRENGTHS)
def test_one_step_preserves_volume_in_phase_space(g: float) -> None:
    """(q, p) -> (q + g p, p) with p = q_t - q_{t-1}: determinant 1 for any number of dimensions."""
    c = 3

    def step(state: Tensor) -> Tensor:
        q, p = state[:c], state[c:]
        pair = torch.stack([q - p, q])  # q_{t-1}, q_t
        return torch.cat([sheared(pair, g)[1], p])

    jacobian = torch.autograd.functional.jacobian(step, torch.randn(2 * c, dtype=torch.float64))
    assert float(torch.linalg.det(jacobian)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("g", STRENGTHS)
@pytest.mark.parametrize("length", [1, 2, 7])
def test_a_whole_sequence_grows_by_1_plus_g_for_each_position_but_the_first(g: float, length: int) -> None:
    x = torch.randn(length, 1, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda q: sheared(q, g), x).view(length, length)
    assert float(torch.linalg.det(jacobian)) == pytest.approx((1 + g) ** (length - 1), rel=1e-12)


@pytest.mark.parametrize("g", STRENGTHS)
def test_the_score_is_the_sum_of_four_terms(g: float) -> None:
    random = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 9, 4, dtype=torch.float64, generator=random)
    p, p_key = (torch.cat([torch.zeros(1, 4), x.diff(dim=0)]) for x in (q, k))
    terms = q @ k.T + g * (p @ k.T) + g * (q @ p_key.T) + g**2 * (p @ p_key.T)
    torch.testing.assert_close(sheared(q, g) @ sheared(k, g).T, terms)


def test_before_a_rotation_the_difference_rotates_too() -> None:
    """Sheared before RoPE instead of after it, the error is g 2 sin(theta / 2) |x_{t-1}| a rotated pair."""
    g, theta = 0.7, 0.4
    x = torch.randn(6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    turns = torch.polar(torch.ones(6, dtype=torch.float64), theta * torch.arange(6, dtype=torch.float64))

    def turn(values: Tensor) -> Tensor:
        return torch.view_as_real(torch.view_as_complex(values.contiguous()) * turns)

    error = (turn(sheared(x, g)) - sheared(turn(x), g)).norm(dim=-1)
    torch.testing.assert_close(error[1:], g * 2 * math.sin(theta / 2) * x[:-1].norm(dim=-1))
