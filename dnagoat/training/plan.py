"""What a run will cost before it is begun: parameters, arithmetic, memory, the largest batch, hours."""

# B windows at once, T symbols of a window

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd.graph import saved_tensors_hooks

from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.config import ModelConfig, RunConfig
from dnagoat.counts.memory.budget import MemoryCost, plan_memory
from dnagoat.counts.memory.features import blank
from dnagoat.free_memory import free_memory
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat.training.engine import Engine
from dnagoat.training.launch.parallel import Execution, recompute_blocks
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.loss import inputs_targets, summed_loss
from dnagoat.training.step.optimizer import state_bytes
from dnagoat.training.step.precision import computing

FREE = 0.9  # share of a device's memory that a plan uses: the allocator's slack and short-lived tensors take the rest
SECONDS = 2.0  # of the longest step that is timed


@dataclass(frozen=True)
class RunCost:
    """One process's share of a run: bytes on its device, and the hours at the measured speed where it was measured."""

    parameters: int
    position_parameters: int
    flops_per_token: int
    weights: int
    gradients: int
    optimizer: int
    activations_fixed: int
    activations_per_window: int
    windows: int  # at once
    device_bytes: int
    tokens_per_second: float | None
    hours: float | None
    timed: int = 0  # windows of the longest step that the speed was measured over
    memory: MemoryCost | None = None  # the tables of a model with memory, where the dataset was given

    @property
    def activations(self) -> int:
        return self.activations_fixed + self.windows * self.activations_per_window

    @property
    def expected(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations

    @property
    def largest(self) -> int:
        """Windows at once that fit the device; 0 where not even one does."""
        room = FREE * self.device_bytes - (self.expected - self.windows * self.activations_per_window)
        return max(0, int(room // self.activations_per_window))


def plan(
    config: RunConfig,
    device: torch.device,
    how: Execution = Execution(),
    *,
    processes: int = 1,
    dataset: Dataset | None = None,
) -> RunCost:
    """The plan of one of `processes` equal ones, without the speed: nothing of the model's size is allocated.

    With its `dataset` also what the tables of a memory take."""
    model = fake_model(config.model)
    every = sum(p.numel() for p in model.parameters())
    one, two = (saved_in_training(config, windows, how) for windows in (1, 2))
    share = config.train.batch_size // processes
    return RunCost(
        parameters=every,
        position_parameters=sum(p.numel() for p in model.position_parameters().values()),
        flops_per_token=flops_per_token(config.model),
        weights=4 * every,
        gradients=4 * every,
        optimizer=state_bytes(model, config.train),
        activations_fixed=max(0, 2 * one - two),
        activations_per_window=two - one,
        windows=min(config.train.micro_batch or share, share),
        device_bytes=memory_of(device),
        tokens_per_second=None,
        hours=None,
        memory=plan_memory(dataset) if config.model.memory and dataset is not None else None,
    )


def flops_per_token(config: ModelConfig) -> int:
    """Forward and backward: 6 a weight that multiplies, and 6 T d a layer for causal attention (half of the square)."""
    with torch.device("meta"):
        model = DnaLM(config)
    weights = sum(
        m.weight.numel() for n, m in model.named_modules() if isinstance(m, nn.Linear) and ".scheme." not in n
    )
    output = config.classes * config.width
    return 6 * (weights + output) + 6 * config.context * config.width * config.layers


def fake_model(config: ModelConfig) -> DnaLM:
    """The model with shapes and no memory, which runs nevertheless."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        return DnaLM(config)


def saved_in_training(config: RunConfig, windows: int, how: Execution = Execution(), *, fake: bool = True) -> int:
    """Bytes that a forward pass over so many windows keeps for the backward one; really run where not `fake`."""
    device = torch.device("cpu")
    with FakeTensorMode(allow_non_fake_inputs=True) if fake else nullcontext():
        model = DnaLM(config.model)
        if how.checkpoint_activations:
            recompute_blocks(model)
        codes = np.zeros((windows, config.model.context), dtype=np.uint8)
        inputs, targets = inputs_targets(codes, config.model.classes, device)
        with computing(config.train.precision, device):
            said = model.memory.blank(windows, inputs.shape[1], device) if model.memory else None
            return saved_bytes(model, lambda: summed_loss(model(inputs, None, said), targets))


def saved_bytes(model: nn.Module, forward: Callable[[], Tensor]) -> int:
    """Bytes of the storages, each once, that autograd keeps of a forward pass, without the model's own weights."""
    own = {tensor.untyped_storage()._cdata for tensor in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            kept[storage._cdata] = storage
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = forward()
    total = sum(storage.nbytes() for storage in kept.values())
    del loss
    return total


def memory_of(device: torch.device) -> int:
    """Bytes that a process may have on the device: all of a GPU, or what system and container leave."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[1])
    return free_memory()


def with_speed(planned: RunCost, config: RunConfig, device: torch.device, processes: int = 1) -> RunCost:
    """The plan with the speed of this device and the hours that follow from it; as it was where no window fits.

    Two steps are timed, of one window and of as many as `SECONDS` allow, and a line through them is followed to the
    whole step: an update costs as much after one window as after all."""
    if not planned.largest:
        return planned
    share = config.train.batch_size // processes
    seconds_of = timed_steps(config, device, at_once=min(planned.windows, planned.largest))
    one = seconds_of(1)
    timed = min(share, max(2, int(SECONDS / one)))
    more = max(0.0, seconds_of(timed) - one) / (timed - 1) if timed > 1 else 0.0  # of each further window
    step = one + (share - 1) * more
    rate = share * config.model.context / step
    return replace(planned, tokens_per_second=rate, hours=config.train.steps * step / 3600, timed=timed)


def timed_steps(config: RunConfig, device: torch.device, at_once: int) -> Callable[[int], float]:
    """What takes real optimizer steps over so many windows of noise and says the seconds of the fastest."""
    still = config.but(train=config.train.but(lr=1e-12))  # at a high rate noise would drive the weights to nan
    engine = Engine(still, Processes(0, 1, device), Execution())
    memory, numbers = engine.model.memory, count(1)

    def step(windows: int) -> float:
        codes = np.random.default_rng(0).integers(0, 4, (windows, config.model.context)).astype(np.uint8)
        passes = [codes[start : start + at_once] for start in range(0, windows, at_once)]
        said = [blank(memory.experts, memory.vote_levels, *part.shape) for part in passes] if memory else None
        began = perf_counter()
        engine.step(next(numbers), passes, said)
        return perf_counter() - began

    @flush_subnormals()  # as in training
    def fastest(windows: int) -> float:
        took: list[float] = []
        while len(took) < 3 and sum(took) < SECONDS:
            took.append(step(windows))
        return min(took)

    fastest(1)  # warms up
    return fastest
