"""FIRE is the paper's formula, element by element; shares stay in their range at any length."""

from __future__ import annotations

import math

import torch

from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.fire import EPS, Fire
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.transformer import DnaLM


def scheme() -> Fire:
    model = DnaLM(ModelConfig(layers=1, position=PositionConfig(name="fire")), seed=2).double()
    made = next(model.attentions()).scheme
    assert isinstance(made, Fire)
    return made


def by_hand(made: Fire, head: int, i: int, j: int) -> float:
    c, limit = made.curve.item(), made.threshold * made.stretch.item()
    x = math.log(1 + c * (i - j)) / (math.log(1 + c * max(limit, i)) + EPS)
    units = zip(
        made.inner.weight[:, 0].tolist(), made.inner.bias.tolist(), made.outer.weight[head].tolist(), strict=True
    )
    return sum(out * max(0.0, weight * x + bias) for weight, bias, out in units)


def test_it_is_the_papers_formula() -> None:
    made = scheme()
    with torch.no_grad():
        made.stretch.fill_(0.1)  # a threshold of 51.2 bases: queries on both sides of it
    queries, keys = torch.tensor([3, 51, 52, 400]), torch.tensor([0, 2, 3])
    bias = made.bias(At(queries, keys))
    for head in range(made.heads):
        for row, i in enumerate(queries.tolist()):
            for column, j in enumerate(keys.tolist()):
                assert math.isclose(bias[head, row, column].item(), by_hand(made, head, i, j), abs_tol=1e-12)


def test_it_starts_as_in_the_paper() -> None:
    made = scheme()
    assert math.isclose(made.curve.item(), 0.1, rel_tol=1e-6) and made.stretch.item() == 1 and made.threshold == 512
    assert made.inner.bias.unique().numel() == 32 and made.outer.weight.abs().min() > 0


def test_below_the_threshold_the_distance_alone_counts_and_beyond_it_the_share() -> None:
    made = scheme()
    near = made.bias(At(torch.tensor([100, 300]), torch.tensor([90, 290])))
    torch.testing.assert_close(near[:, 0, 0], near[:, 1, 1])
    with torch.no_grad():
        made.curve.fill_(1e6)  # so steep that log(1 + c x) is all but log c + log x
    far = made.bias(At(torch.tensor([2000, 8000]), torch.tensor([0])))
    torch.testing.assert_close(far[:, 0], far[:, 1])  # the first base is a share of 1 behind any of them


def test_every_parameter_learns_and_nothing_is_undefined_where_all_is_zero() -> None:
    made = scheme()
    made.bias(At(torch.arange(700)))[:, :, :5].square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().max() > 0 for parameter in made.parameters())
    with torch.no_grad():
        made.curve.zero_()
    assert made.bias(At(torch.arange(9))).isfinite().all()
