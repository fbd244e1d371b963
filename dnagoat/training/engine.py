"""What one optimizer step does: forward and backward over the micro-batches, one update, on one or many processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.utils._pytree import tree_leaves

from dnagoat.attention.fast.subnormals import subnormals
from dnagoat.config import RunConfig
from dnagoat.counts.memory.features import Features
from dnagoat.genome.alphabet import Codes
from dnagoat.model.initial import initialise
from dnagoat.model.memory import tensors
from dnagoat.model.replay import CudaGraphs, Recorder, Replay
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, put_weights, weights_of
from dnagoat.training.kept.random_states import put_random_states, random_states
from dnagoat.training.launch.parallel import Execution, lay_out, synchronised
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.kernel_ran import kernel_ran
from dnagoat.training.step.loss import count_scored, inputs_targets, summed_loss
from dnagoat.training.step.optimizer import (
    hold_rates,
    make_optimizer,
    optimizer_tensors,
    put_optimizer,
    set_rate,
    whole,
)
from dnagoat.training.step.precision import computing, scaler
from dnagoat.training.step.schedule import apply_recipe, learning_rate

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader

Pass = tuple[Tensor, Tensor, Features | None]  # inputs and targets (B, T), and what memory says of them

SMALL = 64  # position parameters of at most so many numbers are followed over time


class NonFinite(Exception):
    """The loss or the gradient of a step is infinite or not a number; the weights have not been touched."""


class OutOfMemory(Exception):
    """A step did not fit; `windows` were tried at once."""

    def __init__(self, windows: int) -> None:
        super().__init__(windows)
        self.windows = windows


class Engine:
    """The model and its optimizer, laid over the processes: at the state of the checkpoint `start`, at the weights
    `first`, or at the seed's start."""

    def __init__(
        self,
        config: RunConfig,
        group: Processes,
        how: Execution,
        start: Checkpoint | None = None,
        reader: Reader | None = None,
        first: Mapping[str, Tensor] | None = None,
    ) -> None:
        self.train, self.classes, self.group = apply_recipe(config.train), config.model.classes, group
        self.model = DnaLM(config.model)
        initialise(self.model, config.train.seed)
        if start is not None:
            put_weights(self.model, start.weights, "the checkpoint")
        elif first is not None:
            put_weights(self.model, first, "--from")
        self.model.to(group.device)
        if self.model.memory is not None:
            self.model.memory.reader = None if reader is None else lambda: reader
        self.kernel = kernel_ran(self.model, config.train.precision)
        self.module = lay_out(self.model, how, group, config.train.precision)
        self.optimizer = make_optimizer(self.model, self.train)
        self.scaler = scaler(self.train, group.device)
        self.rate = 0.0
        self._share = torch.zeros((), dtype=torch.float64, device=group.device)  # of a nat in what is minimised
        self._outcome = torch.zeros(2, dtype=torch.float64, device=group.device)  # nats and norm of the step
        self._passes: list[Pass] = []
        self._go: Callable[[int], None] = self._update
        recordable = self.train.optimizer == "adamw" and not self.scaler.is_enabled()  # the others ask the host
        if how.compile and group.count == 1 and group.device.type == "cuda" and recordable:
            self.record(CudaGraphs(group.device))
        if start is not None:
            self._restore(start)

    def record(self, recorder: Recorder) -> None:
        """From now on the whole step is recorded once and replayed: forward, backward, clipping and update."""
        hold_rates(self.optimizer, self.group.device)
        self._go = Replay(self._update, recorder)

    def step(
        self, number: int, micro_batches: list[Codes], features: list[Features] | None = None
    ) -> tuple[float, float]:
        """Step 1, 2, ... on this process's windows: the loss in nats per scored base of the effective batch, and the
        norm of its gradient before clipping. Raises `NonFinite` before anything moves, `OutOfMemory`.

        `features` are what memory says of each micro-batch, where the model has one."""
        self.model.train()
        self.model.set_step(number)
        (count,) = self.group.total(sum(count_scored(codes, self.classes) for codes in micro_batches))
        self.rate = learning_rate(self.train, number)
        with memory_named(len(micro_batches[0])):
            # Gradients are averaged over processes, so each process's share of the sum is scaled up by their number.
            self._share.fill_(self.group.count / max(count, 1))
            set_rate(self.optimizer, self.rate)
            self._take(micro_batches, features)
            self._go(len(micro_batches))
            read, size = self._outcome.tolist()  # the step's one wait for the device
        (total,) = self.group.total(read)
        if not isfinite(total):
            raise NonFinite(f"the loss is {total}")
        if not isfinite(size):
            self._bear(size)
        return total / max(count, 1), size

    def _move(self, finite: Tensor) -> None:
        """One update where `finite`, a truth that stays on the device: nobody waits for it, and weights stay as they
        are where it is false."""
        if not self.scaler.is_enabled():  # else the scaler tells the optimizer in the same way
            self.optimizer.found_inf = (~finite).float()  # type: ignore[attr-defined]
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def _bear(self, norm: float) -> None:
        """float16's scaler skips a step whose gradient overflowed and halves its scale; nobody else can go on."""
        if not self.scaler.is_enabled():
            raise NonFinite(f"the gradient's norm is {norm}")
        if (scale := self.scaler.get_scale()) < 1:
            raise NonFinite(f"float16 gradients overflow even at a loss scale of {scale:g}")

    def _take(self, micro_batches: list[Codes], features: list[Features] | None) -> None:
        """Puts this process's windows on the device; where a step is replayed, to where they were before."""
        passes: list[Pass] = []
        for place, codes in enumerate(micro_batches):
            said = tensors(features[place], self.group.device) if features else None
            passes.append((*inputs_targets(codes, self.classes, self.group.device), said))
        if not (self._passes and isinstance(self._go, Replay)):
            self._passes = passes
            return
        for held, new in zip(tree_leaves(self._passes), tree_leaves(passes), strict=True):
            if isinstance(held, Tensor):
                held.copy_(new)

    def _update(self, passes: int) -> None:
        """Forward and backward of as many passes as were taken, and one update; the host decides nothing in it."""
        nats = self._gradients()
        self.scaler.unscale_(self.optimizer)
        norm = self._norm(clip=self.train.clip)
        self._move(torch.isfinite(norm) & torch.isfinite(nats))
        self._outcome.copy_(torch.stack([nats, norm.double()]))
        self.optimizer.zero_grad(set_to_none=True)
        self.model.constrain()

    def _gradients(self) -> Tensor:
        """The sum of nats of this process's windows, on the device."""
        nats = torch.zeros((), dtype=torch.float64, device=self.group.device)
        for place, (inputs, targets, said) in enumerate(self._passes, 1):
            with synchronised(self.module, place == len(self._passes)):
                with computing(self.train.precision, self.group.device):
                    loss = summed_loss(self.module(inputs, None, said), targets)
                self.scaler.scale(loss * self._share).backward()  # type: ignore[no-untyped-call]
            nats += loss.detach().double()
        return nats

    def _norm(self, clip: float) -> Tensor:
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        return norm.full_tensor() if isinstance(norm, DTensor) else norm

    def prior(self) -> dict[str, list[float]] | None:
        """Slopes, gains and amplitudes of the position scheme by name; every process must ask. None without any."""
        small = {n: whole(p) for n, p in self.model.position_parameters().items() if p.numel() <= SMALL}
        return {name: [float(x) for x in value.flatten()] for name, value in small.items()} or None

    def state(self, progress: TrainingState) -> Checkpoint:
        """Everything that a later sitting needs; every process must ask."""
        return Checkpoint(
            progress,
            {name: whole(tensor) for name, tensor in weights_of(self.model).items()},
            optimizer_tensors(self.model, self.optimizer),
            random_states(self.group),
        )

    def described(self) -> dict[str, Any]:
        """What summary.json says of the model and of the machine."""
        position = sum(p.numel() for p in self.model.position_parameters().values())
        every = sum(p.numel() for p in self.model.parameters())
        cuda = self.group.device.type == "cuda"
        return {
            "parameters": {"all": every, "position": position, "content": every - position},
            "device": torch.cuda.get_device_name(self.group.device) if cuda else "cpu",
            "processes": self.group.count,
            "threads": torch.get_num_threads(),
            "subnormals": subnormals(),
            "precision": self.train.precision,
            "kernel": self.kernel,
            "torch": torch.__version__,
        }

    def loss_scale(self) -> tuple[float | None, int | None]:
        """float16's scale and how many steps it has lasted; None in other formats."""
        state = self.scaler.state_dict()
        return (state["scale"], state["_growth_tracker"]) if state else (None, None)

    def _restore(self, start: Checkpoint) -> None:
        put_optimizer(self.model, self.optimizer, start.optimizer)
        put_random_states(start.random, self.group)
        if self.scaler.is_enabled() and start.progress.loss_scale is not None:
            state = self.scaler.state_dict()
            state |= {"scale": start.progress.loss_scale, "_growth_tracker": start.progress.loss_scale_age}
            self.scaler.load_state_dict(state)


@contextmanager
def memory_named(windows: int) -> Iterator[None]:
    """Turns an allocator's complaint, on a GPU or a CPU, into `OutOfMemory`."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise OutOfMemory(windows) from None
    except RuntimeError as why:
        if "DefaultCPUAllocator" not in str(why):
            raise
        raise OutOfMemory(windows) from None
