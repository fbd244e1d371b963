"""Which models probes train, and how: the trainer's optimizer and schedule on batches that are made, not read."""

# B sequences, T symbols

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import NamedTuple

import torch
from torch import Tensor, nn

from dnagoat.config import ModelConfig, TrainConfig
from dnagoat.errors import TrainingError
from dnagoat.genome.batches import IGNORE
from dnagoat.model.initial import initialise
from dnagoat.model.transformer import DnaLM
from dnagoat.training.step.loss import summed_loss
from dnagoat.training.step.optimizer import make_optimizer, set_rate
from dnagoat.training.step.precision import computing
from dnagoat.training.step.schedule import apply_recipe, learning_rate

Batch = tuple[Tensor, Tensor]  # inputs and targets (B, T) int64; targets are IGNORE where nothing is asked


class TokenLM(DnaLM):
    """The product's own blocks over any vocabulary, without a start symbol.

    (B, T) tokens below `vocabulary` -> (B, T, vocabulary) logits of what comes next.
    """

    def __init__(self, config: ModelConfig, vocabulary: int, seed: int = 0) -> None:
        super().__init__(config, seed=None)
        self.embedding = nn.Embedding(vocabulary, config.width)
        self.classes = vocabulary
        initialise(self, seed)


class Fitted(NamedTuple):
    step: int
    loss: float  # nats a scored symbol, of the batch before its update


def fit(model: DnaLM, batch: Callable[[int], Batch], train: TrainConfig) -> Iterator[Fitted]:
    """Trains in place on `batch(1)`, `batch(2)`, ... and yields every step; `TrainingError` if the loss is lost."""
    device = next(model.parameters()).device
    train = apply_recipe(train)
    optimizer = make_optimizer(model, train)
    model.train()
    for step in range(1, train.steps + 1):
        model.set_step(step)
        set_rate(optimizer, learning_rate(train, step))
        inputs, targets = (side.to(device) for side in batch(step))
        with computing(train.precision, device):
            logits = model(inputs)
        loss = summed_loss(logits, targets) / (targets != IGNORE).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), train.clip)
        optimizer.step()
        model.constrain()
        nats = float(loss.detach())
        if not isfinite(nats):
            raise TrainingError(f"step {step:,} of the probe has a non-finite loss; try a lower --lr")
        yield Fitted(step, nats)
    model.eval()


def learn(
    model: DnaLM, batch: Callable[[int], Batch], train: TrainConfig, watch: Callable[[int, int], None], points: int = 40
) -> list[list[float]]:
    """Runs `fit` to its end, tells `watch(done, steps)`, and returns the loss as `[step, mean loss since]` pairs."""
    every = max(1, train.steps // points)
    curve, since = [], []
    for step, loss in fit(model, batch, train):
        since.append(loss)
        if step % every == 0 or step == train.steps:
            curve.append([step, sum(since) / len(since)])
            since = []
        watch(step, train.steps)
    return curve
