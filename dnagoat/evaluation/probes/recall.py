"""At which depth and length is a key still recalled? Arms learn at one length and are asked at longer ones."""

# B sequences, W symbols of a sequence, K bases of the key

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, NamedTuple, Self

import numpy as np
import torch
from pydantic import Field, model_validator

from dnagoat import __version__
from dnagoat.attention.schemes.registry import USUAL
from dnagoat.config import ModelConfig, RunConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.comparison.arms import of_arm, read_arms
from dnagoat.evaluation.comparison.labels import label_arms
from dnagoat.evaluation.measure import Result
from dnagoat.evaluation.probes.fit import Batch, learn
from dnagoat.evaluation.probes.lists import MOST_SEEDS, ONCE, RISING, SOME, refuse_too_many
from dnagoat.evaluation.probes.proportion import share
from dnagoat.evaluation.probes.retrieval import Task, TaskName, episodes
from dnagoat.evaluation.probes.sweep import Sweep
from dnagoat.evaluation.scoring.intervals import LEVEL
from dnagoat.frozen import Frozen
from dnagoat.genome.batches import IGNORE, to_inputs_targets
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.step.matching import count

ASKED_AT_ONCE = 32_768  # symbols in one forward pass


class RecallOptions(Frozen):
    """What is hidden, who learns it, and where it is asked for; lengths are `times` the training length `length`."""

    task: TaskName = "passkey"
    marker: int = 8
    key: int = 8
    length: int = Field(128, ge=1)
    times: Annotated[tuple[Annotated[int, Field(ge=1)], ...], SOME, ONCE, RISING] = (1, 2, 4, 8, 16)
    depths: int = Field(5, ge=2, le=1000, description="places from the start (0) to just before the question (1)")
    trials: int = Field(100, ge=1, description="sequences for each depth and length, a seed")
    arms: Annotated[tuple[str, ...], SOME, ONCE] = USUAL
    seeds: int = Field(1, ge=1, le=MOST_SEEDS)
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()

    @model_validator(mode="after")
    def _held(self) -> Self:
        refuse_too_many(
            self.length * max(self.train.batch_size, self.trials * self.times[-1]),
            {
                "batch_size": self.train.batch_size,
                "trials": self.trials,
                "length": self.length,
                "times": self.times[-1],
            },
        )
        return self

    @property
    def hidden(self) -> Task:
        return Task(self.task, self.marker, self.key)

    def config(self, arm: str, seed: int) -> RunConfig:
        """The ordinary configuration of an arm, but that its data is made."""
        model = self.model.but(context=self.length)
        made = f"{self.task} made from seed {seed}"
        base = RunConfig(model=model, train=self.train, dataset=made, dataset_hash="", tool_version=__version__)
        return of_arm(base, arm, seed=seed)


class Fit(NamedTuple):
    """One model of the sweep."""

    arm: str
    seed: int


def recall(options: RecallOptions, device: str = "cpu", progress: Progress = silent, sweep: Sweep = Sweep()) -> Result:
    """Trains every arm from every seed and asks it; the result names each cell's hits, trials and interval."""
    options.hidden.room(options.length)
    configs = [options.config(arm, seed=0) for arm in options.arms]
    labels = label_arms(read_arms(options.arms), configs)
    for arm, config in zip(options.arms, configs, strict=True):
        if config.model.memory:
            raise OptionError(
                f"--arm {arm}: memory looks words of a dataset up, and {options.task} makes its own; leave it"
            )
        count(config.model)  # what cannot be a model is refused before any is trained
    settings = {"probe": options.task, **options.model_dump(mode="json")}
    fits = [Fit(arm, seed) for arm in options.arms for seed in range(options.seeds)]
    found = sweep.run(settings, fits, partial(_fitted, options, device), progress)
    return {
        "probe": options.task,
        "unit": f"share of keys of {options.key} bases recalled whole",
        "chance": options.hidden.chance,
        "level": LEVEL,
        "length": options.length,
        "settings": options.model_dump(mode="json"),
        "arms": [
            _arm(options, label, [found[Fit(arm, seed)] for seed in range(options.seeds)])
            for label, arm in zip(labels, options.arms, strict=True)
        ],
    }


def _fitted(options: RecallOptions, device: str, fit: Fit, progress: Progress) -> Result:
    """A model's size, its training, and for each length and depth how many keys and bases it said."""
    config = options.config(fit.arm, fit.seed)
    model = DnaLM(config.model, fit.seed).to(device)
    watch = partial(progress, f"{fit.arm}, seed {fit.seed}")
    curve = learn(model, partial(questions, options, fit.seed), config.train, watch)
    whole, bases = ask(model, options, fit.seed)
    return {"parameters": model.parameter_count, "loss": curve, "whole": whole.tolist(), "bases": bases.tolist()}


def _arm(options: RecallOptions, arm: str, fits: Sequence[Result]) -> Result:
    """`fits` of one arm, a seed each."""
    by_seed = np.array([fit["whole"] for fit in fits])
    hits, bases = by_seed.sum(0), np.sum([fit["bases"] for fit in fits], axis=0)
    trials = options.trials * options.seeds
    return {
        "arm": arm,
        "parameters": fits[0]["parameters"],
        "fits": [{"seed": seed, "loss": fit["loss"]} for seed, fit in enumerate(fits)],
        "cells": [
            {
                "length": options.length * times,
                "times": times,
                "depth": depth / (options.depths - 1),
                **share(int(hits[row, depth]), trials),
                "bases": share(int(bases[row, depth]), trials * options.key),
            }
            for row, times in enumerate(options.times)
            for depth in range(options.depths)
        ],
        "lengths": [
            {
                "length": options.length * times,
                "times": times,
                **share(int(hits[row].sum()), trials * options.depths),
                "seeds": [float(whole[row].mean() / options.trials) for whole in by_seed],
            }
            for row, times in enumerate(options.times)
        ],
    }


def questions(options: RecallOptions, seed: int, step: int) -> Batch:
    """A training batch: keys at depths drawn evenly, only the bases of the second key asked."""
    depths = np.random.default_rng([seed, step]).random(options.train.batch_size)
    codes = episodes(options.hidden, options.length, depths, seed, "train", step)
    inputs, targets = to_inputs_targets(codes)
    targets[:, : -options.key] = IGNORE
    return torch.from_numpy(inputs), torch.from_numpy(targets)


@torch.inference_mode()
def ask(model: DnaLM, options: RecallOptions, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How many keys were said whole, and how many of their bases were right: two arrays (lengths, depths).

    Bases are asked one after another with the true ones before them. A key counts as said when all are right, which is
    when greedy decoding says it.
    """
    whole = np.zeros((len(options.times), options.depths), dtype=np.int64)
    right = np.zeros_like(whole)
    for row, times in enumerate(options.times):
        for depth in range(options.depths):
            hits = _said(model, options, seed, options.length * times, depth / (options.depths - 1))
            whole[row, depth], right[row, depth] = hits.all(1).sum(), hits.sum()
    return whole, right


def _said(model: DnaLM, options: RecallOptions, seed: int, length: int, depth: float) -> np.ndarray:
    """(trials, K) bool: which bases of the key were right."""
    depths = np.full(options.trials, depth)
    codes = episodes(options.hidden, length, depths, seed, f"test {length} {depth:.6f}", 0)
    device = next(model.parameters()).device
    inputs, targets = (torch.from_numpy(side).to(device) for side in to_inputs_targets(codes))
    at_once = max(1, ASKED_AT_ONCE // length)
    guesses = [model(part)[:, -options.key :].argmax(-1) for part in torch.split(inputs, at_once)]
    return (torch.cat(guesses) == targets[:, -options.key :]).cpu().numpy()
