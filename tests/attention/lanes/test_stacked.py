"""Lanes of all layers in one pass are those of each layer alone, with their gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from dnagoat.attention.lanes import stacked
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.model.transformer import DnaLM

POSITIONS: dict[str, PositionConfig] = {
    "alibi": PositionConfig(name="alibi"),
    "goat": PositionConfig(name="goat"),
    "authors": PositionConfig(name="goat", settings={"form": "authors"}),
    "spectral": PositionConfig(name="goat", settings={"parts": ("spectral",)}),
    "learned periods": PositionConfig(name="goat", settings={"learn_periods": True}),
    "goat+rope": PositionConfig(name="goat+rope"),
    "momentum": PositionConfig(name="goat", momentum=MomentumConfig(strength=0.3, layers=(1,))),
    "convolution": PositionConfig(name="goat", convolution=3),
    "gate": PositionConfig(name="alibi", gate=True),
    "gate under a convolution": PositionConfig(name="goat", gate=True, convolution=3),
}
CODES = torch.arange(2 * 70).view(2, 70) % 4


def model(position: PositionConfig) -> DnaLM:
    made = DnaLM(ModelConfig(width=64, heads=2, layers=3, mlp_width=32, content=32, position=position), 1)
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in made.position_parameters().values():
            parameter.add_(torch.empty_like(parameter).uniform_(0.0, 0.3, generator=random))
    return made.double()


def found(made: DnaLM, together: bool) -> Mapping[str, Tensor]:
    made.stacks_lanes = together
    made.zero_grad(set_to_none=True)
    logits = made(CODES)
    (logits * torch.linspace(-1, 1, 4, dtype=logits.dtype)).sum().backward()
    gradients = {name: p.grad for name, p in made.named_parameters() if p.grad is not None}
    return {"logits": logits.detach(), **gradients}


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_together_is_each_alone(position: PositionConfig) -> None:
    made = model(position)
    alone, together = found(made, together=False), found(made, together=True)
    assert alone.keys() == together.keys()
    for name, value in alone.items():
        torch.testing.assert_close(together[name], value, rtol=1e-9, atol=1e-11, msg=name)


@pytest.mark.parametrize("parts", [("recency",), ("sink", "spectral")])
def test_a_part_that_is_switched_off_in_one_layer_is_off_there(parts: Any) -> None:
    made = model(POSITIONS["goat"])
    second = list(made.attentions())[1]
    for part in parts:
        second.scheme = second.scheme.without(part)
    alone, together = found(made, together=False), found(made, together=True)
    torch.testing.assert_close(together["logits"], alone["logits"], rtol=1e-9, atol=1e-11)


def test_what_takes_much_memory_is_made_layer_by_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    made = model(POSITIONS["goat"])
    before = found(made, together=True)["logits"]
    monkeypatch.setattr(stacked, "BYTES", 1 << 10)
    assert (
        stacked.lanes_of_layers([a.scheme for a in made.attentions()], made._positions(70, CODES.device), torch.float32)
        is None
    )
    torch.testing.assert_close(found(made, together=True)["logits"], before, rtol=1e-9, atol=1e-11)


def test_under_autocast_only_content_is_rounded() -> None:
    """Gradients of the prior stay float32 sums, whatever content is computed in."""
    made = model(POSITIONS["goat"]).float()
    exact = found(made, together=False)
    with torch.autocast("cpu", torch.bfloat16):
        runs = [found(made, together=together) for together in (True, False)]
    for run in runs:
        assert all(run[name].dtype == torch.float32 for name in made.position_parameters())
    together, alone = (
        sum(float((run[name] - exact[name]).square().sum()) for name in made.position_parameters()) for run in runs
    )
    size = sum(float(exact[name].square().sum()) for name in made.position_parameters())
    assert together <= 4 * alone + 1e-4 * size  # as products of bfloat16 round, whichever way they are laid out
