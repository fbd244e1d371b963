"""What one optimizer step does: forward and backward over the micro-batches, one update, on one or many processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from dnagoat.attention.fast.subnormals import subnormals
from dnagoat.config import RunConfig
from dnagoat.counts.memory.features import Features
from dnagoat.genome.alphabet import Codes
from dnagoat.model.initial import initialise
from dnagoat.model.memory import tensors
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, put_weights, weights_of
from dnagoat.training.kept.random_states import put_random_states, random_states
from dnagoat.training.launch.parallel import Execution, lay_out, synchronised
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.kernel_ran import kernel_ran
from dnagoat.training.step.loss import count_scored, inputs_targets, summed_loss
from dnagoat.training.step.optimizer import adamw, optimizer_tensors, put_optimizer, set_rate, whole
from dnagoat.training.step.precision import computing, scaler
from dnagoat.training.step.schedule import apply_recipe, learning_rate

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader

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
        self.optimizer = adamw(self.model, self.train)
        self.scaler = scaler(self.train, group.device)
        self.rate = 0.0
        if start is not None:
            self._restore(start)

    def step(
        self, number: int, micro_batches: list[Codes], features: list[Features] | None = None
    ) -> tuple[float, float]:
        """Step 1, 2, ... on this process's windows: the loss in nats per scored base of the effective batch, and the
        norm of its gradient before clipping. Raises `NonFinite` before anything moves, `OutOfMemory`.

        `features` are what memory says of each micro-batch, where the model has one."""
        self.model.train()
        self.model.set_step(number)
        (count,) = self.group.total(sum(count_scored(codes, self.classes) for codes in micro_batches))
        with memory_named(len(micro_batches[0])):
            nats = self._gradients(micro_batches, features, max(count, 1))
            self.scaler.unscale_(self.optimizer)
            norm = self._norm(clip=self.train.clip)
            self.rate = learning_rate(self.train, number)
            set_rate(self.optimizer, self.rate)
            self._move(torch.isfinite(norm) & torch.isfinite(nats))
            read, size = torch.stack([nats, norm.double()]).tolist()  # the step's one wait for the device
        self.optimizer.zero_grad(set_to_none=True)
        self.model.constrain()
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

    def _gradients(self, micro_batches: list[Codes], features: list[Features] | None, count: float) -> Tensor:
        """The sum of nats of this process's windows, on the device; `count` bases are scored by all processes."""
        pairs = [inputs_targets(codes, self.classes, self.group.device) for codes in micro_batches]
        # Gradients are averaged over processes, so each process's share of the sum is scaled up by their number.
        scale = self.group.count / count
        nats = torch.zeros((), dtype=torch.float64, device=self.group.device)
        for place, (inputs, targets) in enumerate(pairs, 1):
            with synchronised(self.module, place == len(pairs)):
                with computing(self.train.precision, self.group.device):
                    said = tensors(features[place - 1], self.group.device) if features else None
                    loss = summed_loss(self.module(inputs, None, said), targets)
                self.scaler.scale(loss * scale).backward()  # type: ignore[no-untyped-call]
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
