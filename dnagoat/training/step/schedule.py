"""Which learning rate a step has: a linear warm-up, then a linear or cosine way down; a pure function of the step."""

from __future__ import annotations

from math import cos, pi

from dnagoat.config import TrainConfig


def learning_rate(train: TrainConfig, step: int) -> float:
    """The rate of step 1..steps: lr * step / warmup while warming up, then from lr down to 0 after the last step."""
    if step <= train.warmup:
        return train.lr * step / train.warmup
    done = (step - train.warmup - 1) / max(1, train.steps - train.warmup)
    return train.lr * (1 - done if train.schedule == "linear" else 0.5 * (1 + cos(pi * done)))


def apply_recipe(train: TrainConfig) -> TrainConfig:
    """The training that a recipe makes of what was configured: for GOAT the literature advises linear decay, a learning
    rate x 0.75 and a warm-up x 1.15."""
    if train.recipe == "none":
        return train
    return train.but(schedule="linear", lr=train.lr * 0.75, warmup=round(train.warmup * 1.15))
