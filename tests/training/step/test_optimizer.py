"""Position parameters have a group of their own: their rate, no decay, and standing still at a rate of 0."""

from __future__ import annotations

import pytest
import torch

from dnagoat.config import ModelConfig, PositionConfig, TrainConfig
from dnagoat.model.transformer import DnaLM
from dnagoat.training.step.loss import summed_loss
from dnagoat.training.step.optimizer import groups, make_optimizer, set_rate


def model_of(name: str, convolution: int | None = None) -> DnaLM:
    position = PositionConfig(name=name, convolution=convolution)
    return DnaLM(ModelConfig(width=64, heads=2, layers=2, mlp_width=32, context=32, position=position))


@pytest.mark.parametrize(
    ("name", "convolution", "some"),
    [("goat", None, "even"), ("goat+rope", None, "odd"), ("alibi", 4, "taps"), ("rope+bias", None, "query_bias")],
)
def test_positions_have_a_group_of_their_own(name: str, convolution: int | None, some: str) -> None:
    model, train = model_of(name, convolution), TrainConfig(prior_lr_scale=5.0, weight_decay=0.1)
    matrices, vectors, positions = groups(model, train)
    named = {id(parameter): key for key, parameter in model.named_parameters()}
    held = {named[id(parameter)] for parameter in positions["params"]}
    assert held == {key for key in named.values() if ".scheme." in key} and any(some in key for key in held)
    assert [group["weight_decay"] for group in (matrices, vectors, positions)] == [0.1, 0.0, 0.0]
    assert sum(len(group["params"]) for group in (matrices, vectors, positions)) == len(named)
    optimizer = make_optimizer(model, train)
    set_rate(optimizer, 0.01)
    assert [group["lr"] for group in optimizer.param_groups] == [0.01, 0.01, 0.05]


def test_gates_and_levels_of_memory_have_a_group_of_their_own() -> None:
    model = DnaLM(ModelConfig(width=64, heads=2, layers=1, mlp_width=32, context=32, memory=("words", "copies")))
    train = TrainConfig(memory_lr_scale=3.0)
    *others, memory = groups(model, train)
    named = {id(parameter): key for key, parameter in model.named_parameters()}
    assert {named[id(p)] for p in memory["params"]} == {"memory.gates", "memory.levels", "memory.prior"}
    assert (memory["scale"], memory["weight_decay"]) == (3.0, 0.0)
    assert sum(len(group["params"]) for group in (*others, memory)) == len(named)


def test_memory_has_an_eighth_of_muons_rate() -> None:
    """Its matrices read sums of nats, which Muon's rate makes jump; a model without memory has no such group."""
    model = DnaLM(ModelConfig(width=64, heads=2, layers=1, mlp_width=32, context=32, memory=("words", "copies")))
    train = TrainConfig(optimizer="muon", prior_lr_scale=5.0, memory_lr_scale=3.0)
    scales = {id(p): group["scale"] for group in make_optimizer(model, train).param_groups for p in group["params"]}
    named = dict(model.named_parameters())
    assert {scales[id(named[f"memory.{name}"])] for name in ("gate.weight", "gate.bias", "embedding.weight")} == {1 / 8}
    assert scales[id(named["memory.gates"])] == scales[id(named["memory.levels"])] == 3 / 8
    others = {name: scales[id(parameter)] for name, parameter in named.items() if not name.startswith("memory.")}
    assert set(others.values()) == {1.0, 5.0}
    by_adamw = {group["scale"] for group in make_optimizer(model, train.but(optimizer="adamw")).param_groups}
    assert by_adamw == {1.0, 5.0, 3.0}


def test_a_scale_of_0_keeps_the_prior_where_it_started() -> None:
    model, train = model_of("goat"), TrainConfig(prior_lr_scale=0.0)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = make_optimizer(model, train)
    codes = torch.randint(0, 4, (2, 32), generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        set_rate(optimizer, 0.01)
        summed_loss(model(codes), codes).backward()
        optimizer.step()
        model.constrain()
    moved = {name for name, parameter in model.named_parameters() if not torch.equal(parameter, before[name])}
    assert moved and not any(".scheme." in name for name in moved)
