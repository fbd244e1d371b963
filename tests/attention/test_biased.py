"""Scores with a bias: strip by strip and by flex attention they are the softmax of the whole, in every composition."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.attention.flex_attention import flex_attention

from dnagoat.attention import biased
from dnagoat.attention.biased import STRIP, Bias
from dnagoat.attention.kernels import dense, flash, sdpa
from dnagoat.attention.layer import Attention
from dnagoat.attention.normalisers import NORMALISERS
from dnagoat.attention.proof.parity import Subject
from dnagoat.attention.schemes.base import At, PositionScheme
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.transformer import DnaLM

LENGTH = 2 * STRIP + 37
BIASED = ("t5", "fire")


class Both(PositionScheme):
    """Lanes and a bias at once: a slope through two lanes, and a table of distances, for each sequence if asked."""

    lanes = 2

    def lanes_at(self, at: At) -> tuple[Tensor, Tensor]:
        query = torch.stack([torch.full_like(at.queries, 0.3, dtype=torch.float64)] * 2, -1) * self.root
        key = torch.stack([at.keys.double(), torch.zeros_like(at.keys).double()], -1)
        return query.expand(self.heads, -1, -1), key.expand(self.heads, -1, -1)

    def bias(self, at: At) -> Tensor:
        behind = (at.queries[..., :, None] - at.keys[..., None, :]).double()
        return torch.stack([(h + 1) * (0.7 * behind).sin() for h in range(self.heads)], dim=-3)


def drawn(length: int = LENGTH, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = torch.randn(3, 2, 4, length, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return q.to(dtype), k.to(dtype), v.to(dtype)


def bias_of(name: str, at: At, **settings: Any) -> Bias:
    return Bias(Subject(name, **settings).layer().double().scheme, at)


@pytest.mark.parametrize("name", BIASED)
@pytest.mark.parametrize("normaliser", list(NORMALISERS))
@pytest.mark.parametrize("causal", [True, False])
def test_strips_are_the_whole(name: str, normaliser: str, causal: bool) -> None:
    (q, k, v), at = drawn(), At(torch.arange(LENGTH))
    bias, normalise = bias_of(name, at), NORMALISERS[normaliser](4).double()
    scores = q @ k.mT * 0.25 + bias.block()
    if causal:
        scores = scores.masked_fill(torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1), -1e30)
    got = biased.attend(q, k, v, 0.25, causal, None, bias, normalise)
    torch.testing.assert_close(got, normalise(scores) @ v, rtol=0, atol=1e-11)


def test_a_mask_and_positions_of_each_sequence_count() -> None:
    q, k, v = drawn()
    positions = torch.stack([torch.arange(LENGTH), torch.arange(LENGTH) + 9])
    bias = Bias(Both(ModelConfig(heads=4)), At(positions))
    mask = torch.rand(1, 1, LENGTH, LENGTH) > 0.5
    mask |= torch.eye(LENGTH, dtype=torch.bool)
    scores = (q @ k.mT * 0.25 + bias.block()).masked_fill(~mask, -math.inf)
    got = biased.attend(q, k, v, 0.25, False, mask, bias)
    torch.testing.assert_close(got, scores.softmax(-1) @ v, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", BIASED)
def test_a_causal_pass_asks_for_no_block_ahead(name: str) -> None:
    q, k, v = (x.float() for x in drawn())
    asked: list[int] = []

    class Watched(Bias):
        def block(self, queries: slice = biased.ALL, keys: slice = biased.ALL) -> Tensor:
            found = super().block(queries, keys)
            asked.append(found.shape[-2] * found.shape[-1])
            return found

    bias = Watched(Subject(name).layer().scheme, At(torch.arange(LENGTH)))
    with torch.no_grad():
        biased.attend(q, k, v, 0.25, True, None, bias)
    assert max(asked) <= STRIP * LENGTH and sum(asked) <= LENGTH * (LENGTH + STRIP) / 2


@pytest.mark.parametrize("name", BIASED)
@pytest.mark.parametrize("causal", [True, False])
def test_flex_attention_is_the_same(name: str, causal: bool) -> None:
    """Its uncompiled form, which any device runs forward; compiled it needs CUDA (test_gpu)."""
    q, k, v = drawn()
    bias = bias_of(name, At(torch.arange(LENGTH)))
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is slow uncompiled
        got = biased.flex(q, k, v, 0.25, causal, None, bias, call=flex_attention)
        mask = torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool).tril(3)
        masked = biased.flex(q, k, v, 0.25, False, mask, bias, call=flex_attention)
        torch.testing.assert_close(got, biased.attend(q, k, v, 0.25, causal, None, bias), rtol=0, atol=1e-11)
        torch.testing.assert_close(masked, biased.attend(q, k, v, 0.25, False, mask, bias), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", BIASED)
def test_every_kernel_takes_a_bias(name: str) -> None:
    (q, k, v), bias = drawn(50), bias_of(name, At(torch.arange(50)))
    whole = [kernel(q, k, v, 0.25, True, None, bias) for kernel in (sdpa, flash, dense(lambda s: s.softmax(-1)))]
    assert torch.equal(whole[0], whole[1]) and torch.equal(whole[0], whole[2])
    half = sdpa(q.bfloat16(), k.bfloat16(), v.bfloat16(), 0.25, True, None, bias)
    assert half.dtype == torch.bfloat16 and (half - whole[0]).abs().max() < 0.05


@pytest.mark.parametrize("name", BIASED)
def test_autocast_leaves_scores_and_bias_in_float32(name: str) -> None:
    (q, k, v), bias = drawn(50, torch.float32), Bias(Subject(name).layer().scheme, At(torch.arange(50)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under = sdpa(q, k, v, 0.25, True, None, bias)
    torch.testing.assert_close(under, sdpa(q, k, v, 0.25, True, None, bias), rtol=0, atol=0)


def test_lanes_and_a_bias_add_up() -> None:
    layer = Attention(ModelConfig(width=32, heads=2, layers=1, position=PositionConfig(name="nope")), 0).double()
    layer.scheme = Both(ModelConfig(width=32, heads=2))
    content = layer.scheme.content * 2
    layer.query = torch.nn.Linear(32, content, bias=False).double()
    layer.key = torch.nn.Linear(32, content, bias=False).double()
    x, j = torch.randn(1, 90, 32, dtype=torch.float64), torch.arange(90)
    q, k, v = (side(x).view(1, 90, 2, -1).transpose(1, 2) for side in (layer.query, layer.key, layer.value))
    prior = 0.3 * j.double() + layer.scheme.bias(At(j))
    torch.testing.assert_close(layer.scheme.log_prior(j, j), prior)
    hidden = torch.ones(90, 90, dtype=torch.bool).triu(1)
    scores = (q @ k.mT / layer.scheme.root + prior).masked_fill(hidden, -math.inf)
    want = layer.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(layer(x, At.whole(90)), want, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", BIASED)
@pytest.mark.parametrize("around", [{"momentum": 0.4}, {"convolution": 3}])
def test_what_goes_around_a_scheme_leaves_its_bias(name: str, around: dict[str, Any]) -> None:
    from dnagoat.attention.proof.parity import layer_errors

    errors = layer_errors(Subject(name, **around), 150, 1, "cpu", sdpa)
    # FIRE's stretch is one number: the terms of all heads and pairs cancel in it. Four times the worst, under AVX-512.
    assert errors.pop("scheme.inner.stretch", 0.0) < 7e-4
    assert errors.pop("forward") < 2e-6 and max(errors.values()) < 1e-4


@pytest.mark.parametrize("name", BIASED)
def test_what_is_kept_for_backward_grows_with_the_length_not_its_square(name: str) -> None:
    from dnagoat.training.plan import saved_bytes

    def kept(length: int) -> int:
        model = DnaLM(ModelConfig(layers=1, context=length, position=PositionConfig(name=name)))
        return saved_bytes(model, lambda: model(torch.zeros(1, length, dtype=torch.long)).sum())

    assert kept(1024) < 2.2 * kept(512)
