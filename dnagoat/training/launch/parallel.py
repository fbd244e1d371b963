"""How a model is laid over processes and made cheaper: DDP, FSDP2, activation checkpointing, torch.compile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch
from pydantic import Field
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from dnagoat.errors import OptionError
from dnagoat.frozen import Frozen
from dnagoat.model.transformer import DnaLM
from dnagoat.training.launch.meeting import PATIENCE
from dnagoat.training.launch.processes import Parallel, Processes
from dnagoat.training.step.precision import HALF


class Execution(Frozen):
    """How a run is computed; none of it changes what is computed, so a run may be resumed with another."""

    parallel: Parallel = "auto"
    compile: bool = False
    checkpoint_activations: bool = False  # recompute each block in the backward pass instead of keeping it
    patience: float = Field(PATIENCE, gt=0)  # seconds that the processes wait for each other at the start


def lay_out(model: DnaLM, how: Execution, group: Processes, precision: str = "fp32") -> nn.Module:
    """The module to call in training: the model itself (sharded in place by FSDP), or DDP around it.

    With `precision` bf16 FSDP gathers the weights of matrix products in bfloat16, half of the traffic; what is small is
    gathered and every gradient summed in float32, which a prior needs.

    Parameter names stay as they are; an optimizer has to be made after this.
    """
    if how.checkpoint_activations:
        recompute_blocks(model)
    if how.compile:
        model.compile()
    if group.count == 1:
        return model
    if how.parallel == "none":
        raise OptionError(f"--parallel none, but there are {group.count} processes; give auto, or start one alone")
    if shards(sum(parameter.numel() for parameter in model.parameters()), how, group):
        mesh = init_device_mesh(group.device.type, (group.count,))
        half = MixedPrecisionPolicy(param_dtype=HALF.get(precision), reduce_dtype=torch.float32)
        for block in model.blocks:
            fully_shard(_products(block), mesh=mesh, mp_policy=half)
        fully_shard(model, mesh=mesh)
        model.stacks_lanes = False  # queries and keys are asked one by one, as the hooks of their weights expect it
        return model
    constants = [name for name, _ in model.named_buffers()]  # need not be sent; older and newer versions know this way
    DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(model, constants)  # type: ignore[no-untyped-call]
    devices = [group.device] if group.device.type == "cuda" else None
    return DistributedDataParallel(model, device_ids=devices, gradient_as_bucket_view=True)


def _products(block: nn.Module) -> list[nn.Module]:
    """The matrix products of a block that are no scheme's."""
    return [m for name, m in block.named_modules() if isinstance(m, nn.Linear) and ".scheme." not in f".{name}."]


def shards(parameters: int, how: Execution, group: Processes) -> bool:
    """Whether several processes share a model of so many parameters by FSDP: it was asked for, or weights, gradients
    and AdamW's moments (16 bytes a parameter) would fill half of a GPU."""
    if group.count == 1 or how.parallel != "auto":
        return group.count > 1 and how.parallel == "fsdp"
    return group.device.type == "cuda" and 16 * parameters > torch.cuda.mem_get_info(group.device)[1] / 2


def recompute_blocks(model: DnaLM) -> None:
    """Each block's activations are computed again in the backward pass instead of being kept; nothing in them is
    random, so that no generator's state is kept, which a recorded step could not do."""
    for block in model.blocks:
        block.forward = partial(checkpoint, block.forward, use_reentrant=False, preserve_rng_state=False)


@contextmanager
def synchronised(module: nn.Module, now: bool) -> Iterator[None]:
    """Gradients are exchanged in the backward passes inside only where `now`: the last of an accumulation."""
    if isinstance(module, DistributedDataParallel) and not now:
        with module.no_sync():
            yield
        return
    if isinstance(module, FSDPModule):
        module.set_requires_gradient_sync(now)
    yield
