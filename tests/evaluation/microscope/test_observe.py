"""Looking into a model changes nothing, shows what it computes, and switching a part off is undone afterwards."""

from __future__ import annotations

import pytest
import torch

from dnagoat.attention.schemes.goat import Form, GoatConfig
from dnagoat.attention.schemes.wrapper import innermost
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.evaluation.microscope.ablation import parts_of, without
from dnagoat.evaluation.microscope.anatomy import normalised
from dnagoat.evaluation.microscope.observe import Seen, observing
from dnagoat.model.transformer import DnaLM

SCHEMES = ["nope", "sinusoidal", "rope", "rope+bias", "alibi", "goat", "goat+rope", "t5", "fire"]


def model_of(name: str, momentum: float | None = None, form: Form = "own", content: int | None = None) -> DnaLM:
    """A small model whose prior is far from where it starts."""
    shear = None if momentum is None else MomentumConfig(strength=momentum)
    position = PositionConfig(name=name, momentum=shear, settings=GoatConfig(form=form, sink_width=8))
    config = ModelConfig(width=128, heads=2, layers=2, mlp_width=64, context=32, position=position, content=content)
    model = DnaLM(config).eval()
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.position_parameters().values():
            parameter.add_(torch.rand(parameter.shape, generator=random))
    return model


CODES = torch.randint(0, 4, (3, 20), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("momentum", [None, 0.8])
@pytest.mark.parametrize("name", SCHEMES)
def test_what_is_seen_is_what_is_computed(name: str, momentum: float | None) -> None:
    seen_is_computed(model_of(name, momentum), whole=name != "rope+bias" or momentum is None)


@pytest.mark.parametrize("content", [None, 21, 59])
def test_the_authors_form_is_seen_whatever_its_content(content: int | None) -> None:
    seen_is_computed(model_of("goat", form="authors", content=content))


@pytest.mark.parametrize("name", ["rope", "alibi", "goat+rope"])
def test_a_content_of_its_own_is_seen(name: str) -> None:
    seen_is_computed(model_of(name, content=32))


def seen_is_computed(model: DnaLM, whole: bool = True) -> None:
    """`whole` unless the shear takes hold of biases as well, which the scheme's own kernel knows nothing of."""
    seen: list[Seen] = []
    with torch.no_grad():
        plain = model(CODES)
        with observing(model, seen.append):
            observed = model(CODES)
        again = model(CODES)
    torch.testing.assert_close(observed, plain, rtol=0, atol=2e-5)
    assert torch.equal(again, plain)
    assert [look.layer for look in seen] == [0, 1]
    at = torch.arange(20)
    for look, attention in zip(seen, model.attentions(), strict=True):
        torch.testing.assert_close(look.weights.sum(-1), torch.ones(3, 2, 20, dtype=torch.float64))
        if not whole:
            continue
        # Equal up to a row constant, which a softmax does not see.
        apart = (look.prior[0] - innermost(attention.scheme).kernel(at, at)).masked_fill(~look.allowed, 0)
        spread = (apart - apart[..., :1]).masked_fill(~look.allowed, 0)
        assert spread.abs().max() < 1e-4


@pytest.mark.parametrize("momentum", [None, 0.8])
@pytest.mark.parametrize("name", SCHEMES)
def test_without_projections_nothing_is_content(name: str, momentum: float | None) -> None:
    """What is left then, lanes and biases of RoPE, sheared or not, is the prior; attention is its softmax."""
    model = model_of(name, momentum)
    seen: list[Seen] = []
    with torch.no_grad():
        for attention in model.attentions():
            attention.query.weight.zero_()
            attention.key.weight.zero_()
        with observing(model, seen.append):
            model(CODES)
    for look in seen:
        assert look.content.abs().max() < 1e-4 and look.key_norms.max() < 1e-4
        torch.testing.assert_close(
            look.weights, normalised(look.prior, look.allowed).expand_as(look.weights), rtol=0, atol=1e-4
        )


@pytest.mark.parametrize("name", SCHEMES)
def test_every_part_matters_while_it_is_off_and_is_back_afterwards(name: str) -> None:
    model = model_of(name, momentum=0.8)
    with torch.no_grad():
        plain = model(CODES)
        for part in parts_of(model):
            with without(model, part):
                assert (model(CODES) - plain).abs().max() > 1e-5, part
            assert torch.equal(model(CODES), plain), part


def test_which_parts_there_are() -> None:
    assert parts_of(model_of("nope")) == []
    for fixed in ("alibi", "t5", "fire"):
        assert parts_of(model_of(fixed)) == ["bias"]
    assert parts_of(model_of("rope+bias")) == ["bias", "rotation"]
    convolved = model_of("rope").config.but(position=PositionConfig(name="rope", convolution=3))
    assert parts_of(DnaLM(convolved)) == ["rotation", "convolution"]
    assert parts_of(model_of("goat+rope", 1.0)) == ["spectral", "sink", "recency", "rotation", "momentum"]


def test_a_goat_without_all_its_parts_is_plain_attention_over_the_same_content() -> None:
    model = model_of("goat")
    seen: list[Seen] = []
    with torch.no_grad(), without(model, "spectral"), without(model, "sink"), without(model, "recency"):  # noqa: SIM117
        with observing(model, seen.append):
            model(CODES)
    assert not seen[0].prior.any() and not seen[1].prior.any()


def test_parts_are_back_after_an_error() -> None:
    model = model_of("goat")
    with torch.no_grad():
        plain = model(CODES)
        with pytest.raises(ZeroDivisionError), without(model, "sink"):
            raise ZeroDivisionError
        assert torch.equal(model(CODES), plain)
