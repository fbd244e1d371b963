"""How a model is laid over processes: DDP's gradients are its buckets, FSDP gathers products' weights in bfloat16."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import distributed, nn
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore

from dnagoat.config import ModelConfig, PositionConfig
from dnagoat.model.transformer import DnaLM
from dnagoat.training.launch.parallel import Execution, lay_out
from dnagoat.training.launch.processes import Parallel, Processes
from dnagoat.training.step.loss import summed_loss
from dnagoat.training.step.precision import computing

CPU = torch.device("cpu")


@pytest.fixture
def two() -> Iterator[Processes]:
    """The first of two processes, of which the second is PyTorch's make-believe: it answers at once, and anything."""
    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    yield Processes(0, 2, CPU)
    distributed.destroy_process_group()


@pytest.fixture
def one() -> Iterator[Processes]:
    """One process, which takes itself for one of two: DDP sends its buckets to itself."""
    distributed.init_process_group("gloo", store=torch._C._distributed_c10d.HashStore(), rank=0, world_size=1)
    yield Processes(0, 2, CPU)
    distributed.destroy_process_group()


def laid_out(group: Processes, parallel: Parallel, precision: str) -> tuple[DnaLM, nn.Module]:
    model = DnaLM(
        ModelConfig(width=64, heads=2, layers=2, mlp_width=32, context=16, position=PositionConfig(name="goat"))
    )
    return model, lay_out(model, Execution(parallel=parallel), group, precision)


def passed_through(module: nn.Module, precision: str) -> None:
    codes = torch.zeros(2, 16, dtype=torch.int64)
    with computing(precision, CPU):
        loss = summed_loss(module(codes), codes)
    loss.backward()


def test_ddps_gradients_lie_in_the_buckets_that_are_sent(one: Processes) -> None:
    """So they take no memory of their own, and none is copied."""
    model, module = laid_out(one, "ddp", "fp32")
    assert isinstance(module, DistributedDataParallel)
    passed_through(module, "fp32")
    grads = [parameter.grad for parameter in model.parameters()]
    buckets = {grad.untyped_storage().data_ptr(): grad.untyped_storage().nbytes() for grad in grads if grad is not None}
    assert len(buckets) < len(grads) / 4
    assert sum(buckets.values()) == 4 * model.parameter_count


@pytest.mark.parametrize(("precision", "dtype"), [("bf16", torch.bfloat16), ("fp32", torch.float32)])
def test_fsdp_gathers_products_in_the_runs_precision_and_sums_in_float32(
    precision: str, dtype: torch.dtype, two: Processes
) -> None:
    model, module = laid_out(two, "fsdp", precision)
    assert isinstance(module, FSDPModule)
    seen: dict[str, torch.dtype] = {}

    def note(name: str) -> None:
        part = model.get_submodule(name)
        part.register_forward_pre_hook(lambda own, given: seen.update({name: next(own.parameters()).dtype}))

    for name, part in model.named_modules():
        if isinstance(part, nn.Linear | nn.LayerNorm):
            note(name)
    passed_through(module, precision)
    products = {name for name in seen if isinstance(model.get_submodule(name), nn.Linear) and ".scheme." not in name}
    assert len(products) == 2 * 6
    assert {seen[name] for name in products} == {dtype}
    assert {seen[name] for name in seen.keys() - products} == {torch.float32}
    for name, parameter in model.named_parameters():
        assert isinstance(parameter, DTensor) and isinstance(parameter.grad, DTensor), name
        assert parameter.dtype == parameter.grad.dtype == torch.float32, name
        assert parameter.to_local().numel() <= parameter.numel() // 2 + parameter.shape[-1], name
