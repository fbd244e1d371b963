"""How a run goes from its first step to its last: `for step in train(config, out): ...`; it yields and never prints."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from math import isfinite
from pathlib import Path
from signal import Signals
from time import perf_counter
from typing import TYPE_CHECKING

from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.attention.kernels import refuse_kernel
from dnagoat.config import RunConfig
from dnagoat.counts.memory.opening import open_reader
from dnagoat.errors import OptionError, RunError, Stopped, TrainingError
from dnagoat.genome.dataset import Dataset, open_dataset
from dnagoat.streams import follow
from dnagoat.training.engine import Engine, NonFinite, OutOfMemory
from dnagoat.training.feed import Feed
from dnagoat.training.kept import checkpoint, run_folder
from dnagoat.training.kept.checkpoint import Checkpoint, Tensors, TrainingState
from dnagoat.training.kept.lock import locked
from dnagoat.training.kept.metrics import Metrics, Step, cuda_peaks, forget_peaks, resident_peak
from dnagoat.training.launch.parallel import Execution, shards
from dnagoat.training.launch.processes import Processes, processes
from dnagoat.training.launch.stop import Stop, never
from dnagoat.training.memory_feed import look_up_ahead
from dnagoat.training.plan import plan
from dnagoat.training.read_ahead import read_ahead
from dnagoat.training.start import weights_at
from dnagoat.training.step.matching import count
from dnagoat.training.step.muon import SHARDED
from dnagoat.training.step.precision import matrix_products
from dnagoat.training.validation import Validation
from dnagoat.wording import counted

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader

Say = Callable[[str], None]


def nobody(_: str) -> None:
    """The listener who is not there."""


def train(
    config: RunConfig,
    out: Path,
    *,
    resume: bool = False,
    force: bool = False,
    device: str = "auto",
    how: Execution = Execution(),
    dataset: Dataset | None = None,
    stop: Stop = never,
    say: Say = nobody,
) -> Generator[Step]:
    """Trains into the run folder `out` and yields every step as it is done; a finished run yields nothing.

    `resume` continues from the newest whole checkpoint (or from the start where there is none), `force` replaces a run.
    `stop` is asked after every step: once it names a signal, the state is saved, the step is yielded and `Stopped`,
    which knows the signal, is raised. `say` hears what a person should know. Raises `RunError` (the folder),
    `OptionError`, `TrainingError` (non-finite, memory, disk), `DatasetError`; the last good checkpoint is intact after
    each.
    """
    if resume and force:
        raise OptionError("--resume continues a run and --force replaces it; give one of them")
    with ExitStack() as held:
        held.enter_context(flush_subnormals())  # before the threads of gloo begin
        group = held.enter_context(processes(device, stop=stop, say=say, patience=how.patience))
        say = say if group.main else nobody
        data = dataset or open_dataset(Path(config.dataset))
        config = config.but(dataset=str(data.path))  # where it lies now
        feed = Feed.of(data, config.train, group.rank, group.count)
        reader = open_reader(config.model.memory, data, say) if config.model.memory else None
        if reader is not None:
            config = config.but(memory_tables=reader.memory.name)
        refuse_kernel(config.model.kernel, group.device)
        parameters = count(config.model)  # what cannot be a model is refused before anything is written
        if config.train.optimizer == "muon" and shards(parameters, how, group):
            raise OptionError(SHARDED)
        first = None if resume and checkpoint.present(out) else _first_weights(config, out)
        _agreed(group, run_folder.open_folder(out) if group.main else None)
        held.enter_context(locked(out, group, say))
        start = checkpoint.to_resume_from(out, say) if resume else None
        _check_optimizer(out, start)
        _agreed(group, run_folder.begin(out, config, resume=resume, force=force) if group.main else None)
        held.enter_context(matrix_products(config.train.precision))
        if start is None and first is None:  # no checkpoint was whole
            first = _first_weights(config, out)
        sitting = Sitting(config, out, group, feed, how, start, reader, first)
        yield from sitting.steps(stop, say)


def _first_weights(config: RunConfig, out: Path) -> Tensors | None:
    """The trained weights that a run starts from, None where its seed says them."""
    if config.origin is None:
        return None
    if follow(Path(config.origin.path)) == follow(out):
        raise RunError(f"{out} is the run that --from names; give another --out")
    return weights_at(config.origin)


def _check_optimizer(out: Path, start: Checkpoint | None) -> None:
    if start is not None and not start.optimizer:
        raise RunError(
            f"{out} was imported and holds weights alone, so that it cannot be resumed; start another run from it "
            f"(`dnagoat train DATASET --from {out} --out RUN`)"
        )


def _agreed(group: Processes, refusal: str | None) -> None:
    if (sentence := group.agree(refusal)) is not None:
        raise RunError(sentence)


class Sitting:
    """A run from where it stands to its last step, or until it is told to stop."""

    def __init__(
        self,
        config: RunConfig,
        out: Path,
        group: Processes,
        feed: Feed,
        how: Execution,
        start: Checkpoint | None,
        reader: Reader | None = None,
        first: Tensors | None = None,
    ) -> None:
        self.config, self.train, self.out, self.group, self.feed, self.how = config, config.train, out, group, feed, how
        self.engine = Engine(config, group, how, start, reader, first)
        self.memory = None if reader is None else look_up_ahead(feed, reader)
        self.reading = read_ahead(feed)
        self.validation = Validation(feed.dataset, config, group)
        self.progress = checkpoint.with_best(out, start.progress) if start else TrainingState()
        forget_peaks(group.device)
        group.barrier()  # everybody has read before anything is tidied
        if group.main:
            checkpoint.settle(out, self.progress)
            self.metrics = Metrics(out, self.progress.step)
        self.began = perf_counter() - self.progress.seconds

    def steps(self, stop: Stop, say: Say) -> Iterator[Step]:
        try:
            for number in range(self.progress.step + 1, self.train.steps + 1):
                step = self._step(number)
                signal = self._asked(stop)
                if signal or self._due(number):
                    self._save()
                yield step
                if signal and number < self.train.steps:
                    say(f"{signal.name}: saved at step {number:,} of {self.train.steps:,}")
                    raise Stopped(signal)
            if self.group.main:
                self.metrics.finish(self.engine.described())
        finally:
            self.reading.close()
            if self.memory is not None:
                self.memory.close()
            if self.group.main:
                self.metrics.close()

    def _step(self, number: int) -> Step:
        """One optimizer step, its validation where one is due, and its row."""
        began, bases = perf_counter(), self.train.batch_size * self.feed.dataset.window
        micro_batches = self.reading.of(number)
        features = None if self.memory is None else self.memory.of(number)
        try:
            loss, norm = self.engine.step(number, micro_batches, features)
            speed = bases / (perf_counter() - began)
            val_nll = self._validated(number)
        except NonFinite as why:
            raise TrainingError(
                f"step {number:,} stopped: {why}; its windows are {self.feed.places(number)}; {self._intact()}; "
                f"try a lower --lr, or --precision fp32"
            ) from None
        except OutOfMemory as why:
            raise TrainingError(self._too_large(number, why.windows)) from None
        self._advance(number, bases, val_nll)
        allocated, reserved = cuda_peaks(self.group.device)
        step = Step(
            step=number,
            steps=self.train.steps,
            bases=self.progress.bases,
            loss=loss,
            lr=self.engine.rate,
            grad_norm=norm if isfinite(norm) else None,
            tokens_per_second=speed,
            seconds=self.progress.seconds,
            val_nll=val_nll,
            cuda_allocated_peak=allocated,
            cuda_reserved_peak=reserved,
            resident_peak=resident_peak(),
            prior=self.engine.prior() if self._looks(number) else None,
        )
        if self.group.main:
            self.metrics.write(step)
        return step

    def _looks(self, number: int) -> bool:
        """Whether validation and the prior are looked at after this step."""
        return number % self.train.eval_every == 0 or number == self.train.steps

    def _validated(self, number: int) -> float | None:
        value = self.validation.nll(self.engine.model) if self._looks(number) else None
        if value is not None and not isfinite(value):
            raise NonFinite(f"the validation loss is {value}")
        return value

    def _advance(self, number: int, bases: int, val_nll: float | None) -> None:
        self.progress = replace(
            self.progress,
            step=number,
            bases=self.progress.bases + bases,
            seconds=perf_counter() - self.began,
            val_nll=val_nll,
        )
        if val_nll is not None and self.progress.better(val_nll):
            self.progress = replace(self.progress, best_step=number, best_val_nll=val_nll)

    def _due(self, number: int) -> bool:
        return number % self.train.checkpoint_every == 0 or number in (self.train.steps, self.progress.best_step)

    def _asked(self, stop: Stop) -> Signals | None:
        """The signal that reached any of the processes, known to all of them."""
        name = stop()
        number = self.group.largest(Signals[name] if name else 0)
        return Signals(number) if number else None

    def _save(self) -> None:
        scale, age = self.engine.loss_scale()
        self.progress = replace(self.progress, loss_scale=scale, loss_scale_age=age)
        state = self.engine.state(self.progress)
        refusal = None
        if self.group.main:
            try:
                self.metrics.sync()
                checkpoint.save(self.out, state, keep=self.train.keep)
            except TrainingError as fault:
                refusal = str(fault)
        if (sentence := self.group.agree(refusal)) is not None:
            raise TrainingError(sentence)

    def _intact(self) -> str:
        kept = checkpoint.present(self.out)
        return f"the checkpoint of step {checkpoint.step_of(kept[-1]):,} is intact" if kept else "nothing was saved yet"

    def _too_large(self, number: int, windows: int) -> str:
        """What to do about a step that did not fit, with the number of windows that the plan says would."""
        planned = plan(self.config, self.group.device, self.how, processes=self.group.count).largest
        fits = planned if planned < windows else windows // 2  # the plan knows the device, not what else is on it
        cure = (
            f"about {fits:,} would fit: give --micro-batch {fits} (the effective batch stays {self.train.batch_size:,})"
            if fits
            else "not even one would fit: take a smaller --preset, shorter windows or `dnagoat train "
            "--checkpoint-activations`"
        )
        return (
            f"step {number:,} ran out of memory on {self.group.device} with {counted(windows, 'window')} of "
            f"{self.feed.dataset.window:,} bases at once; {cure}"
        )
