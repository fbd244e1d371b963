"""What weights start as: streams by name, shared between arms, leading rows where a head is narrower."""

from __future__ import annotations

import torch

from dnagoat.attention.schemes.alibi import alibi_slopes
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.initial import initialise
from dnagoat.model.transformer import DnaLM

WIDE = DnaLM(ModelConfig(width=256, heads=4, layers=2, position=PositionConfig(name="rope")), seed=3)
NARROW = DnaLM(ModelConfig(width=256, heads=4, layers=2), seed=3)


def test_the_same_seed_gives_the_same_bits_and_another_does_not() -> None:
    again, other = DnaLM(WIDE.config, seed=3), DnaLM(WIDE.config, seed=4)
    for (name, one), two, three in zip(WIDE.named_parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(one, two)
        assert torch.equal(one, three) == ("norm" in name)
    initialise(other, 3)
    assert all(torch.equal(a, b) for a, b in zip(WIDE.parameters(), other.parameters(), strict=True))


def test_arms_share_the_start_of_what_they_share() -> None:
    wide, narrow = dict(WIDE.named_parameters()), dict(NARROW.named_parameters())
    for name, parameter in narrow.items():
        if ".scheme." in name:
            continue
        if name.endswith(("query.weight", "key.weight")):
            heads, content = parameter.view(4, -1, 256), parameter.shape[0] // 4
            assert content == 44
            assert torch.equal(heads, wide[name].view(4, 64, 256)[:, :content])
        else:
            assert torch.equal(parameter, wide[name])


def test_streams_differ_by_name_and_have_the_stated_spread() -> None:
    first, second = (attention.query.weight for attention in WIDE.attentions())
    assert not torch.equal(first, second)
    assert abs(float(first.detach().std()) / 0.02 - 1) < 0.02
    residual = next(WIDE.attentions()).out.weight
    assert abs(float(residual.detach().std()) / (0.02 / 4**0.5) - 1) < 0.02


def test_the_seeded_prior_is_the_authors() -> None:
    goat = GoatConfig(init="seeded")
    seeded = DnaLM(NARROW.config.but(position=PositionConfig(settings=goat)), seed=3)
    for name, value in seeded.position_parameters().items():
        if name.endswith("slopes"):
            torch.testing.assert_close(value.detach(), alibi_slopes(4).float())
        if name.endswith(("odd", "gain", "first")):
            assert (value == 0).all()
        if name.endswith("even"):
            assert 0.003 < float(value.detach().std()) < 0.03


def test_the_uniform_prior_is_zero() -> None:
    uniform = DnaLM(NARROW.config.but(position=PositionConfig(settings=GoatConfig(init="uniform"))))
    j = torch.arange(50)
    for attention in uniform.attentions():
        assert (attention.scheme.log_prior(j, j) == 0).all()
    assert any((p != 0).any() for n, p in uniform.position_parameters().items() if "inner.weight" in n)
