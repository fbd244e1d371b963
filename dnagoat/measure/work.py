"""What is timed: a training step, a scored batch or written bases, each as the product itself does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from dnagoat.config import RunConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.scoring.likelihood import window_scores
from dnagoat.generation.continuation import generate
from dnagoat.generation.sampling import SamplingOptions
from dnagoat.genome.alphabet import Codes
from dnagoat.measure.job import PEER, Job
from dnagoat.measure.peer import put_peer
from dnagoat.model.transformer import DnaLM
from dnagoat.training.engine import Engine
from dnagoat.training.launch.parallel import Execution
from dnagoat.training.launch.processes import Processes
from dnagoat.training.step.optimizer import hold_rates, make_optimizer
from dnagoat.training.step.precision import computing


@dataclass(frozen=True)
class Work:
    """A call that can be repeated, and how many bases one call handles.

    `glimpse`, where there is one, is a shorter call that runs the same routines: for a profile, which keeps every
    operation.
    """

    call: Callable[[], object]
    bases: int
    parameters: int
    glimpse: Callable[[], object] | None = None


def work_of(job: Job) -> Work:
    """Builds the arm and what it has to do; bases are random, for no cost depends on which they are."""
    return {"train": _training, "evaluate": _evaluation, "generate": _generation}[job.what](job)


def _codes(job: Job) -> Codes:
    return np.random.default_rng(job.seed).integers(0, 4, (job.batch, job.length), dtype=np.uint8)


def _training(job: Job) -> Work:
    codes, device = _codes(job), torch.device(job.device)
    config = RunConfig(model=job.model, train=job.train, dataset="", dataset_hash="", tool_version="")
    engine = Engine(config, Processes(0, 1, device), Execution(compile=job.compiled))
    if job.arm == PEER:
        put_peer(engine.model)
        engine.optimizer = make_optimizer(engine.model, engine.train)
        if job.compiled:
            hold_rates(engine.optimizer, device)
    # One rate for all calls: step 1 again and again is a step like any other.
    return Work(lambda: engine.step(1, [codes]), codes.size, _parameters(engine.model))


def _evaluation(job: Job) -> Work:
    codes, model = _codes(job), _model(job)
    if job.compiled:
        model.compile()

    def call() -> None:
        with computing(job.precision, torch.device(job.device)):
            window_scores(model, codes)

    return Work(call, codes.size, _parameters(model))


def _generation(job: Job) -> Work:
    if job.arm == PEER:
        raise OptionError("goat-attention is measured in training and evaluation; leave it out of --what generate")
    if job.precision != "fp32":
        raise OptionError(f"generation runs in fp32; leave {job.precision} out of --what generate")
    if job.compiled:
        raise OptionError("generation has a step of its own, which is not compiled; leave --compile out")
    model, options = _model(job), SamplingOptions(seed=job.seed)
    prompt = np.empty(0, dtype=np.uint8)

    def write(length: int) -> None:
        for _ in generate(model, [prompt], length, options, samples=job.batch, batch_size=job.batch):
            pass

    bases = job.batch * job.length
    return Work(partial(write, job.length), bases, _parameters(model), glimpse=partial(write, 2))


def _model(job: Job) -> DnaLM:
    model = DnaLM(job.model, job.seed).to(job.device).eval()
    if job.arm == PEER:
        put_peer(model)
        model.eval()
    return model


def _parameters(model: DnaLM) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
