"""Laws of the whole model: no base sees what follows it, neighbours do not matter, a cache changes nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from dnagoat.attention.cache import Cache
from dnagoat.attention.lanes.exact import EXACT
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.registry import SCHEMES as REGISTERED
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.errors import OptionError
from dnagoat.model.transformer import DnaLM

SCHEMES = list(REGISTERED)
MOMENTUM = MomentumConfig(strength=0.7)
KINDS = [(name, momentum) for name in SCHEMES for momentum in (None, MOMENTUM)]


def model_of(name: Any, momentum: MomentumConfig | None = None, **settings: Any) -> DnaLM:
    """A small model in float64 whose prior is far from its start."""
    config = ModelConfig(layers=2, position=PositionConfig(name=name, momentum=momentum), **settings)
    model = DnaLM(config).double()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.position_parameters().values():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    model.constrain()
    return model


def random_codes(batch: int, length: int) -> Tensor:
    return torch.randint(0, 6, (batch, length), generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize(("name", "momentum"), KINDS)
def test_causality(name: str, momentum: MomentumConfig | None) -> None:
    model, codes = model_of(name, momentum), random_codes(2, 31)
    before = model(codes)
    for t in (0, 1, 17, 30):
        changed = codes.clone()
        changed[:, t] = (changed[:, t] + 1) % 6
        after = model(changed)
        torch.testing.assert_close(after[:, :t], before[:, :t], rtol=0, atol=1e-12)
        assert (after[:, t:] - before[:, t:]).abs().max() > 1e-6


@pytest.mark.parametrize(("name", "momentum"), KINDS)
def test_a_batch_of_one_equals_a_batch_of_many(name: str, momentum: MomentumConfig | None) -> None:
    model, codes = model_of(name, momentum), random_codes(5, 23)
    together = model(codes)
    for row in range(5):
        torch.testing.assert_close(model(codes[row : row + 1])[0], together[row], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "momentum"), KINDS)
def test_cached_equals_full_for_every_split(name: str, momentum: MomentumConfig | None) -> None:
    model, codes = model_of(name, momentum), random_codes(2, 12)
    full = model(codes)
    splits = [(0, first, 12) for first in range(1, 12)] + [tuple(range(13)), (0, 3, 4, 9, 12), (0, 1, 11, 12)]
    with torch.no_grad():
        for split in splits:
            cache = Cache(model.config, 2, 12, dtype=torch.float64)
            parts = [model(codes[:, start:end], cache) for start, end in pairwise(split)]
            torch.testing.assert_close(torch.cat(parts, dim=1), full, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", SCHEMES)
def test_cached_equals_full_in_float32_past_the_training_length(name: Any) -> None:
    model = DnaLM(ModelConfig(layers=2, context=64, position=PositionConfig(name=name)))
    codes = random_codes(1, 300)
    with torch.no_grad():
        full, cache = model(codes), Cache(model.config, 1, 300)
        parts = [model(codes[:, :250], cache)] + [model(codes[:, t : t + 1], cache) for t in range(250, 300)]
    torch.testing.assert_close(torch.cat(parts, dim=1), full, rtol=0, atol=3e-5 * float(full.abs().max()))


def test_the_order_of_bases_is_seen_by_every_scheme_but_nope() -> None:
    codes = torch.tensor([[0, 1, 2, 3, 0], [1, 0, 2, 3, 0]])  # the first two swapped
    for name in SCHEMES:
        first, second = model_of(name)(codes)[:, -1]
        # NoPE still tells sequences apart below the top by its causal mask, so one layer is looked at.
        single = DnaLM(ModelConfig(layers=1, position=PositionConfig(name=name))).double()
        one, other = single(codes)[:, -1]
        # T5's table of biases starts at 0, which is no positions.
        assert torch.allclose(one, other, rtol=0, atol=1e-12) == (name in ("nope", "t5")), name
        assert not torch.equal(first, second)


def test_a_prior_of_zero_is_plain_attention() -> None:
    """GOAT at uniform initialisation equals softmax of its content alone."""
    from dnagoat.attention.proof import reference
    from dnagoat.attention.schemes.base import At, PositionScheme

    config = ModelConfig(layers=1, position=PositionConfig(settings=GoatConfig(init="uniform")))
    attention = next(DnaLM(config).double().attentions())
    x = torch.randn(2, 20, 128, dtype=torch.float64)
    j = torch.arange(20)
    assert torch.equal(attention.scheme.log_prior(j, j), torch.zeros(2, 20, 20, dtype=torch.float64))
    plain = PositionScheme(config.but(position=PositionConfig(name="nope")))
    heads = [
        (x @ part.weight.T).view(2, 20, 2, -1).transpose(1, 2)
        for part in (attention.query, attention.key, attention.value)
    ]
    want = attention.out(reference.attend(plain, *heads).transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x, At(j)), want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["goat", "goat+rope"])
def test_from_uniform_every_prior_parameter_has_a_gradient_within_two_steps(name: Any) -> None:
    position = PositionConfig(name=name, settings=GoatConfig(init="uniform", learn_periods=True))
    model = DnaLM(ModelConfig(layers=2, position=position))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    codes, seen = random_codes(4, 64), dict.fromkeys(model.position_parameters(), False)
    for _ in range(2):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(codes)[:, :-1].flatten(0, 1), codes[:, 1:].flatten() % 4).backward()
        for parameter_name, parameter in model.position_parameters().items():
            assert parameter.grad is not None
            seen[parameter_name] |= bool((parameter.grad != 0).all())
        optimizer.step()
        model.constrain()
    assert all(seen.values()), [parameter_name for parameter_name, moved in seen.items() if not moved]
    assert all(p.min() >= 0 for n, p in model.position_parameters().items() if n.endswith("slopes"))


def test_only_bases_come_out_and_the_embedding_is_tied() -> None:
    assert model_of("goat")(random_codes(1, 3)).shape == (1, 3, 4)
    assert model_of("goat", classes=5)(random_codes(1, 3)).shape == (1, 3, 5)
    model = model_of("nope")
    x = torch.randn(2, 128, dtype=torch.float64)
    model.norm.register_forward_hook(lambda *_: x)
    torch.testing.assert_close(model(random_codes(1, 2)), x @ model.embedding.weight[:4].T)


def test_positions_past_what_is_exact_are_refused() -> None:
    model = DnaLM(ModelConfig(layers=1))
    with pytest.raises(OptionError, match=f"{EXACT + 1:,} positions are more than the {EXACT:,} that goat holds"):
        model(torch.zeros(1, 1, dtype=torch.long).expand(1, EXACT + 1))


def test_position_parameters_are_the_schemes_own() -> None:
    names = set(model_of("goat", normaliser="entmax").position_parameters())
    endings = {".".join(name.split(".")[2:]) for name in names}
    sink = {f"attention.scheme.parts.sink.{n}" for n in ("inner.weight", "inner.bias", "outer.weight", "gain", "first")}
    assert endings == sink | {
        "attention.scheme.parts.spectral.even",
        "attention.scheme.parts.spectral.odd",
        "attention.scheme.parts.recency.slopes",
        "attention.normaliser.shape",
    }
    assert not model_of("rope").position_parameters()
