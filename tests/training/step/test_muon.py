"""Muon moves the matrices of attention and MLP alone, each as far as a typical step of AdamW, in all its directions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import distributed
from torch.testing._internal.distributed.fake_pg import FakeStore

from dnagoat.config import ModelConfig, PositionConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat.model.transformer import DnaLM
from dnagoat.training.launch.parallel import Execution, lay_out
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.loss import summed_loss
from dnagoat.training.step.muon import MuonBesideAdamW, hidden_matrices
from dnagoat.training.step.optimizer import make_optimizer, set_rate

MATRICES = {f"attention.{part}" for part in ("query", "key", "value", "out")} | {"mlp.up", "mlp.down"}
TRAIN = TrainConfig(optimizer="muon", prior_lr_scale=5.0, weight_decay=0.1)


def model_of(name: str = "goat", **more: object) -> DnaLM:
    position = PositionConfig(name=name)
    return DnaLM(ModelConfig(width=64, heads=2, layers=2, mlp_width=160, context=32, position=position, **more))


@pytest.mark.parametrize("model", [model_of(), model_of("fire"), model_of("rope", memory=("words",))])
def test_muon_has_the_blocks_matrices_and_adamw_the_rest(model: DnaLM) -> None:
    assert set(hidden_matrices(model)) == {f"blocks.{layer}.{part}.weight" for layer in (0, 1) for part in MATRICES}
    optimizer = make_optimizer(model, TRAIN)
    muon, *others = optimizer.param_groups
    assert {id(p) for p in muon["params"]} == {id(p) for p in hidden_matrices(model).values()}
    held = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert len(held) == len(set(held)) == len(list(model.parameters()))
    assert (muon["weight_decay"], muon["scale"], "betas" in muon) == (0.1, 1.0, False)
    assert all("betas" in group for group in others)
    set_rate(optimizer, 0.01)
    assert [group["lr"] for group in optimizer.param_groups] == [0.01 * g["scale"] for g in optimizer.param_groups]


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_a_step_goes_equally_far_in_all_directions(size: float) -> None:
    """0.2 of the rate in each number on average, as arXiv 2502.16982 has it of AdamW; Muon's own polynomial leaves
    directions between 0.7 and 1.2 of that, whatever the gradient's size. Decay is the rate's share of the matrix, as
    AdamW's."""
    model, rate = model_of(), 0.01
    optimizer = make_optimizer(model, TRAIN)
    set_rate(optimizer, rate)
    before = {name: matrix.detach().clone() for name, matrix in hidden_matrices(model).items()}
    for seed, matrix in enumerate(hidden_matrices(model).values()):
        matrix.grad = size * torch.randn(matrix.shape, generator=torch.Generator().manual_seed(seed))
    optimizer.step()
    for name, matrix in hidden_matrices(model).items():
        step = (matrix.detach() - (1 - rate * TRAIN.weight_decay) * before[name]).double()
        assert step.square().mean().sqrt() == pytest.approx(0.2 * rate, rel=0.35), name
        lengths = torch.linalg.svdvals(step) / (0.2 * rate * max(step.shape) ** 0.5)
        assert lengths.max() < 1.5, name
        assert lengths.median() > 0.5, name


def test_what_adamw_moves_it_moves_as_if_muon_were_not_there() -> None:
    moved = []
    for kind in ("adamw", "muon"):
        model = model_of()
        optimizer = make_optimizer(model, TRAIN.but(optimizer=kind))
        set_rate(optimizer, 0.01)
        codes = torch.zeros((2, 32), dtype=torch.int64)
        summed_loss(model(codes), codes).backward()
        optimizer.step()
        moved.append({n: p.detach().clone() for n, p in model.named_parameters() if n not in hidden_matrices(model)})
    assert all(torch.equal(value, moved[1][name]) for name, value in moved[0].items())


@pytest.fixture
def two() -> Iterator[Processes]:
    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    yield Processes(0, 2, torch.device("cpu"))
    distributed.destroy_process_group()


def test_sharded_matrices_are_refused(two: Processes) -> None:
    model = model_of()
    lay_out(model, Execution(parallel="fsdp"), two)
    with pytest.raises(OptionError, match="Muon needs whole matrices"):
        make_optimizer(model, TRAIN)
    whole = model_of()
    assert isinstance(make_optimizer(whole, TRAIN), MuonBesideAdamW)
