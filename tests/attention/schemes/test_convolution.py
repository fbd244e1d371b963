"""The short convolution: nothing at its start, only the past afterwards, one symbol at a time as all at once."""

from __future__ import annotations

import pytest
import torch

from dnagoat.attention.proof.parity import Subject
from dnagoat.attention.schemes.base import At
from dnagoat.attention.schemes.convolution import Convolution, convolved
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.errors import OptionError
from dnagoat.generation.decoding import Decoder
from dnagoat.model.transformer import DnaLM


def model(name: str, convolution: int | None) -> DnaLM:
    position = PositionConfig(name=name, convolution=convolution)
    config = ModelConfig(width=128, heads=2, layers=2, mlp_width=64, context=32, position=position)
    return DnaLM(config).double().eval()


CODES = torch.randint(0, 4, (2, 20), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", ["nope", "rope", "alibi", "goat"])
def test_it_starts_as_the_scheme_without_it(name: str) -> None:
    assert torch.equal(model(name, 4)(CODES), model(name, None)(CODES))


def test_no_base_sees_a_later_one() -> None:
    taps = torch.randn(2, 3, 8)
    x = torch.randn(1, 2, 10, 8)
    changed = x.clone()
    changed[..., 6, :] += 1
    apart = (convolved(x, taps, None)[0] - convolved(changed, taps, None)[0]).abs().amax((0, 1, 3))
    assert (apart[:6] == 0).all() and (apart[6:] > 0).all()


@pytest.mark.parametrize("read", [1, 2, 3, 11])
@pytest.mark.parametrize("name", ["rope", "goat"])
def test_decoding_equals_the_full_pass(name: str, read: int) -> None:
    made = model(name, 4)
    with torch.no_grad():
        for scheme in (attention.scheme for attention in made.attentions()):
            assert isinstance(scheme, Convolution)
            scheme.query_taps.normal_()
            scheme.key_taps.normal_()
        full = made(CODES)
    decoder = Decoder(made, 2, 20)
    logits = [decoder.read(CODES[:, :read])] + [decoder.step(column) for column in CODES[:, read:].T]
    assert (torch.stack(logits, 1) - full[:, read - 1 :]).abs().max() < 1e-10


def test_what_is_held_is_what_the_next_call_needs() -> None:
    scheme = Subject("rope", convolution=4).layer().double().scheme
    q, k = torch.randn(2, 1, 4, 9, 64, dtype=torch.float64)
    whole = scheme.rotate(q.clone(), k.clone(), At(torch.arange(9)))
    before, parts = None, []
    for first, last in ((0, 2), (2, 3), (3, 9)):
        at = At(torch.arange(first, last))
        *turned, before = scheme.rotate(q[..., first:last, :].clone(), k[..., first:last, :].clone(), at, before)
        parts.append(turned)
    for side in (0, 1):
        torch.testing.assert_close(torch.cat([part[side] for part in parts], -2), whole[side])


def test_it_is_not_put_on_top_of_momentum() -> None:
    with pytest.raises(OptionError, match="take one"):
        PositionConfig(name="rope", convolution=4, momentum=MomentumConfig(strength=1.0))
