"""T5's buckets are those of the paper, to the base; its bias is the table's row of a distance."""

from __future__ import annotations

import math

import pytest
import torch

from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.t5 import T5, T5Settings, firsts
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.errors import OptionError


def bucket(distance: int, buckets: int, longest: int) -> int:
    """As the paper says it, for one distance."""
    half = buckets // 2
    if distance < half:
        return distance
    return min(buckets - 1, half + math.floor(half * math.log(distance / half) / math.log(longest / half)))


def scheme(**settings: int) -> T5:
    made = T5(ModelConfig(heads=2, position=PositionConfig(name="t5", settings=T5Settings(**settings))))
    with torch.no_grad():
        made.table.copy_(torch.arange(made.table.numel()).view_as(made.table))
    return made


@pytest.mark.parametrize(("buckets", "longest"), [(32, 128), (4, 9), (16, 1000), (64, 5000)])
def test_every_distance_lies_in_its_bucket(buckets: int, longest: int) -> None:
    made, length = scheme(buckets=buckets, longest=longest), longest + 50
    bias = made.bias(At(torch.tensor([length - 1]), torch.arange(length)))[:, 0]
    for distance in range(length):
        assert bias[:, length - 1 - distance].tolist() == [2 * bucket(distance, buckets, longest) + h for h in (0, 1)]


def test_borders_that_are_powers_are_not_rounded_away() -> None:
    """16 * 16 ** (k / 16) is whole at k = 4, 8 and 12, where a logarithm may fall to either side."""
    assert [firsts(32, 256)[15 + k] for k in (4, 8, 12)] == [32, 64, 128]


def test_the_bias_starts_at_zero_and_learns_from_there() -> None:
    made = T5(ModelConfig(position=PositionConfig(name="t5")))
    at = At(torch.arange(7))
    assert not made.bias(at).any()
    made.bias(at).sum().backward()
    assert made.table.grad is not None and made.table.grad[:7].all() and not made.table.grad[7:].any()


@pytest.mark.parametrize("settings", [{"buckets": 7}, {"buckets": 2}, {"buckets": 32, "longest": 16}])
def test_buckets_that_cannot_be_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(OptionError):
        T5Settings(**settings)
