"""How weights move: AdamW in four groups (decayed, not decayed, positions, memory), with or without Muon beside it, and
their state as plain tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, distribute_tensor

from dnagoat.config import TrainConfig
from dnagoat.model.transformer import DnaLM
from dnagoat.training.step.muon import MuonBesideAdamW, hidden_matrices

BESIDE_MUON = 1 / 8  # memory's share of Muon's rate, at which the sums of its matrices jump (experiments/optimizer.md)


def groups(model: DnaLM, train: TrainConfig, elsewhere: Collection[str] = ()) -> list[dict[str, Any]]:
    """Matrices and embeddings decay; biases and norms do not, nor what has its own rate: positions and memory.

    Parameters named `elsewhere` are another optimizer's."""
    positions, memory = model.position_parameters(), model.memory_parameters()
    others = positions.keys() | memory.keys() | set(elsewhere)
    named = {name: parameter for name, parameter in model.named_parameters() if name not in others}
    content = [parameter for name, parameter in named.items() if not name.startswith("memory.")]
    reading = [parameter for name, parameter in named.items() if name.startswith("memory.")]
    beside = BESIDE_MUON if train.optimizer == "muon" else 1.0
    chosen = [
        *_decaying(content, train.weight_decay, 1.0),
        *_decaying(reading, train.weight_decay, beside),
        {"params": list(positions.values()), "weight_decay": 0.0, "scale": train.prior_lr_scale},
        {"params": list(memory.values()), "weight_decay": 0.0, "scale": beside * train.memory_lr_scale},
    ]
    return [group for group in chosen if group["params"]]


def _decaying(parameters: Collection[nn.Parameter], decay: float, scale: float) -> Iterator[dict[str, Any]]:
    """Two groups: what decays, and what does not."""
    yield {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": decay, "scale": scale}
    yield {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0, "scale": scale}


def make_optimizer(model: DnaLM, train: TrainConfig) -> torch.optim.Optimizer:
    """One fused update of AdamW over all parameters, or over those that are not Muon's; an `OptionError` where Muon
    cannot be had."""
    matrices = hidden_matrices(model) if train.optimizer == "muon" else {}
    adamw = torch.optim.AdamW(groups(model, train, matrices), lr=train.lr, betas=train.betas, fused=True)
    if not matrices:
        return adamw
    group = {"params": list(matrices.values()), "weight_decay": train.weight_decay, "scale": 1.0}
    return MuonBesideAdamW(group, adamw, train.lr)


def state_bytes(model: DnaLM, train: TrainConfig) -> int:
    """What the optimizer keeps: two moments of each number in AdamW, one in Muon."""
    moments = 2 * sum(parameter.numel() for parameter in model.parameters())
    if train.optimizer == "muon":
        moments -= sum(matrix.numel() for matrix in hidden_matrices(model).values())
    return 4 * moments


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """The rate of the next step, times each group's scale."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate * group["scale"])
        else:
            group["lr"] = rate * group["scale"]


def hold_rates(optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    """Puts rates on the device, where a recorded step reads them anew each time; float32 is what the GPU's fused update
    takes."""
    for group in optimizer.param_groups:
        group["lr"], group["capturable"] = torch.tensor(group["lr"], dtype=torch.float32, device=device), True
    optimizer._warned_capturable_if_run_uncaptured = True  # the first step is, and has to be


def whole(tensor: Tensor) -> Tensor:
    """A detached copy on the CPU, gathered from all processes where it is sharded: a call of all or of none."""
    full = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
    return full.detach().to("cpu", copy=True)


def like(parameter: Tensor, full: Tensor) -> Tensor:
    """`full` laid out as the parameter is: on its device, and sharded where it is."""
    full = full.to(parameter.device)
    if isinstance(parameter, DTensor):
        return distribute_tensor(full, parameter.device_mesh, parameter.placements)
    return full


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The state of each parameter as `NAME/exp_avg`, `NAME/exp_avg_sq`, `NAME/step` (Muon's as
    `NAME/momentum_buffer`), whole and on the CPU."""
    return {
        f"{name}/{key}": whole(value)
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def put_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """The opposite, on any number of processes."""
    parameters = dict(model.named_parameters())
    for key, value in tensors.items():
        name, _, field = key.rpartition("/")
        parameter = parameters[name]
        state = optimizer.state[parameter]
        state[field] = value.to(parameter.device) if field == "step" else like(parameter, value)
