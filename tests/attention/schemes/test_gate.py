"""The gate: nothing at its start, then a prior of each sequence's own, one symbol at a time as all at once."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from dnagoat.attention.proof.parity import Subject
from dnagoat.attention.schemes.gate import Gate
from dnagoat.attention.schemes.wrapper import innermost
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.microscope.ablation import parts_of, without
from dnagoat.evaluation.microscope.observe import Seen, observing
from dnagoat.generation.decoding import Decoder
from dnagoat.model.transformer import DnaLM
from dnagoat.training.step.loss import summed_loss

CODES = torch.randint(0, 4, (3, 20), generator=torch.Generator().manual_seed(0))
AROUND: list[dict[str, Any]] = [{}, {"convolution": 4}, {"momentum": MomentumConfig(strength=0.5)}]


def model(name: str = "goat", gate: bool = True, dial: float = 0.0, **more: Any) -> DnaLM:
    """`dial` is how far its gates are from 1."""
    position = PositionConfig(name=name, gate=gate, **more)
    config = ModelConfig(width=128, heads=2, layers=2, mlp_width=64, context=32, position=position)
    made = DnaLM(config).double().eval()
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for path, parameter in made.named_parameters():
            if path.endswith((".weights", ".level")):
                parameter.add_(dial * torch.randn(parameter.shape, generator=random))
    return made


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("name", ["alibi", "goat", "goat+rope"])
def test_it_starts_as_the_scheme_without_it(name: str, more: dict[str, Any]) -> None:
    assert torch.equal(model(name, **more)(CODES), model(name, gate=False, **more)(CODES))


def test_it_learns_from_the_first_step() -> None:
    made = model()
    summed_loss(made(CODES), CODES).backward()
    gates = {n: p.grad for n, p in made.named_parameters() if n.endswith((".weights", ".level"))}
    assert len(gates) == 4
    assert all(grad is not None and grad.abs().max() > 0 for grad in gates.values())
    assert gates.keys() <= made.position_parameters().keys()


@pytest.mark.parametrize("more", AROUND)
@pytest.mark.parametrize("read", [1, 3, 11])
@pytest.mark.parametrize("batch", [1, 3])
def test_decoding_equals_the_full_pass(batch: int, read: int, more: dict[str, Any]) -> None:
    made = model(dial=0.5, **more)
    codes = CODES[:batch]
    with torch.no_grad():
        full = made(codes)
    decoder = Decoder(made, batch, 20)
    logits = [decoder.read(codes[:, :read])] + [decoder.step(column) for column in codes[:, read:].T]
    assert (torch.stack(logits, 1) - full[:, read - 1 :]).abs().max() < 1e-10


def test_a_sequence_does_not_see_its_mates() -> None:
    made = model(dial=0.5)
    with torch.no_grad():
        together, alone = made(CODES), torch.cat([made(row[None]) for row in CODES])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-12)


def test_the_prior_that_is_seen_is_the_schemes_times_the_gate() -> None:
    made, seen, read = model(dial=0.5), list[Seen](), list[Tensor]()
    first = next(made.attentions())
    first.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    with torch.no_grad(), observing(made, seen.append):
        made(CODES)
        at = torch.arange(20)
        prior = first.scheme.exact_gate(read[0]) * innermost(first.scheme).log_prior(at, at)
    apart = (seen[0].prior - prior).masked_fill(~seen[0].allowed, torch.nan)
    constants = apart.nanmean(-1, keepdim=True)  # a row, which softmax does not see
    assert (apart - constants).nan_to_num().abs().max() < 1e-9
    assert prior.std(0).max() > 0.1  # sequences have priors of their own


def test_it_can_be_switched_off() -> None:
    made = model(dial=0.5)
    assert parts_of(made) == ["spectral", "sink", "recency", "gate"]
    with torch.no_grad(), without(made, "gate"):
        torch.testing.assert_close(made(CODES), model()(CODES), rtol=0, atol=1e-12)


def test_a_shut_gate_is_plain_attention_and_no_number_is_lost() -> None:
    made = model("alibi").float()
    for attention in made.attentions():
        assert isinstance(attention.scheme, Gate)
        attention.scheme.level.data.fill_(-1e4)
    logits, decoder = made(CODES), Decoder(made, 3, 20)
    assert torch.isfinite(logits).all() and torch.isfinite(decoder.read(CODES)).all()
    with torch.no_grad(), without(made, "bias"):
        torch.testing.assert_close(made(CODES), logits)


@pytest.mark.parametrize("name", ["rope", "nope", "sinusoidal", "t5", "fire", "rope+bias"])
def test_what_has_no_lanes_has_no_gate(name: str) -> None:
    with pytest.raises(OptionError, match=r"dials a prior's lanes, and .* has none; leave the gate out"):
        Subject(name, gate=True).layer("meta")
