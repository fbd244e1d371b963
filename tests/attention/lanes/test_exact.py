"""Whether numbers survive half precision: every position in exact pieces, smooth values in two lanes."""

from __future__ import annotations

import pytest
import torch

from dnagoat.attention.lanes.exact import EXACT, STEP, high_and_residual, integer_pieces


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_every_position_within_reach_is_exact(dtype: torch.dtype) -> None:
    for positions in (torch.arange(EXACT), torch.arange(EXACT) + STEP // 2):
        pieces = integer_pieces(positions, dtype).double()
        assert torch.equal(pieces @ torch.tensor([STEP, 1.0], dtype=torch.float64), positions.double())


def test_the_reach_ends_where_exactness_does() -> None:
    assert EXACT >= 2 * 65_536
    beyond = integer_pieces(torch.tensor([EXACT + STEP // 2]), torch.bfloat16).double()
    assert beyond @ torch.tensor([STEP, 1.0], dtype=torch.float64) != EXACT + STEP // 2


def test_high_and_residual_keep_sixteen_bits_and_the_gradient() -> None:
    x = torch.linspace(-10, 10, 2001, requires_grad=True)
    high, rest = high_and_residual(x)
    assert torch.equal(high, high.bfloat16().float())
    assert torch.equal(high + rest, x)
    kept = high.double() + rest.bfloat16().double()
    assert ((kept - x).abs() <= 2.0**-16 * x.abs()).all()
    rest.sum().backward()
    assert x.grad is not None and torch.equal(x.grad, torch.ones_like(x))
