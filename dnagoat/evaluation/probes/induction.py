"""Does one layer with momentum learn induction, which takes two without? Which strength does a depth want?"""

# B sequences, T queries, S keys, C content width

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
import torch
from pydantic import Field, model_validator
from torch import Tensor

from dnagoat.attention.schemes.base import At, Pair
from dnagoat.attention.schemes.momentum import Momentum, shear
from dnagoat.config import STRONGEST, ModelConfig, MomentumConfig, PositionConfig, TrainConfig
from dnagoat.evaluation.measure import Result
from dnagoat.evaluation.probes.fit import Batch, TokenLM, learn
from dnagoat.evaluation.probes.lists import MOST_SEEDS, ONCE, RISING, SOME, refuse_too_many
from dnagoat.evaluation.probes.proportion import share
from dnagoat.evaluation.probes.repetition import Repetitions, asked, repetitions
from dnagoat.evaluation.probes.score_terms import score_terms
from dnagoat.evaluation.probes.sweep import Sweep
from dnagoat.evaluation.scoring.intervals import LEVEL
from dnagoat.frozen import Frozen
from dnagoat.progress import Progress, silent

Placement = Literal["after", "before"]
Recipe = Literal["none", "momentum"]
Strength = Annotated[float, Field(ge=0, le=STRONGEST)]


class InductionOptions(Frozen):
    """Which strengths, placements (of the shear, about the rotation), depths and recipes are tried, from each seed."""

    vocabulary: int = Field(128, ge=2)
    length: int = Field(64, ge=4)
    stretch: int = Field(16, ge=2, description="symbols that come back")
    strengths: Annotated[tuple[Strength, ...], SOME, ONCE, RISING] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
    placements: Annotated[tuple[Placement, ...], SOME, ONCE] = ("after", "before")
    layers: Annotated[tuple[int, ...], SOME, ONCE, RISING] = (1,)
    recipes: Annotated[tuple[Recipe, ...], SOME, ONCE] = ("none",)
    seeds: int = Field(1, ge=1, le=MOST_SEEDS)
    trials: int = Field(200, ge=1, description="test sequences a seed; each asks stretch - 1 times")
    position: PositionConfig = PositionConfig(name="rope")
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()

    @model_validator(mode="after")
    def _held(self) -> Self:
        widest = max(self.vocabulary, self.length)  # a sequence is the beginning of a shuffled vocabulary
        refuse_too_many(
            widest * max(self.train.batch_size, self.trials),
            {
                "batch_size": self.train.batch_size,
                "trials": self.trials,
                "vocabulary": self.vocabulary,
                "length": self.length,
            },
        )
        return self


class ShearBefore(Momentum):
    """The shear on the wrong side of the rotation, where the difference rotates too: a negative control."""

    def rotate(self, q: Tensor, k: Tensor, at: At, before: Pair | None = None) -> tuple[Tensor, Tensor, Pair | None]:
        strength = self.strength.to(q.dtype)
        return self.inner.rotate(shear(q, strength, None), shear(k, strength, None), at)


class Fit(NamedTuple):
    """One model of the sweep."""

    recipe: Recipe
    layers: int
    placement: Placement
    strength: float
    seed: int = 0

    def __str__(self) -> str:
        layers = f"{self.layers} layer{'s'[: self.layers > 1]}"
        return f"{layers}, g {self.strength:g} {self.placement} the rotation, seed {self.seed}"


def induction(
    options: InductionOptions, device: str = "cpu", progress: Progress = silent, sweep: Sweep = Sweep()
) -> Result:
    """One row a (recipe, layers, placement, strength): accuracy, what each seed reached, and the score's terms."""
    kinds = [
        Fit(recipe, layers, placement, strength)
        for recipe in options.recipes
        for layers in options.layers
        for placement in options.placements
        for strength in options.strengths
        if strength > 0 or placement == options.placements[0]  # without a shear there is nothing to place
    ]
    _sequences(options, 1, 0, "test", 0)
    for kind in kinds:
        with torch.device("meta"):  # what cannot be a model is refused before any is trained
            build(options, kind.layers, kind.placement, kind.strength, seed=0)
    settings = {"probe": "induction", **options.model_dump(mode="json")}
    fits = [kind._replace(seed=seed) for kind in kinds for seed in range(options.seeds)]
    found = sweep.run(settings, fits, partial(_fitted, options, device), progress)
    rows = [_row(options, kind, [found[kind._replace(seed=seed)] for seed in range(options.seeds)]) for kind in kinds]
    return {
        "probe": "induction",
        "unit": "share of repeated symbols predicted",
        "chance": 1 / options.vocabulary,
        "level": LEVEL,
        "settings": options.model_dump(mode="json"),
        "rows": rows,
        "laws": [law for recipe in options.recipes if (law := strength_law(rows, recipe)) is not None],
    }


def _fitted(options: InductionOptions, device: str, fit: Fit, progress: Progress) -> Result:
    """A model's training, its hits among the test's queries, and of the first seed the terms of its scores."""
    model = build(options, fit.layers, fit.placement, fit.strength, fit.seed).to(device)
    train = take_recipe(options.train.but(seed=fit.seed), fit.recipe)
    curve = learn(model, partial(_batch, options, fit.seed), train, partial(progress, str(fit)))
    test = _sequences(options, options.trials, fit.seed, "test", 0).to(device)
    split = fit.layers == 1 and fit.placement == "after" and fit.seed == 0
    return {"loss": curve, "hits": _hits(model, test), "terms": score_terms(model, test) if split else None}


def _row(options: InductionOptions, kind: Fit, fits: Sequence[Result]) -> Result:
    """`fits` of one kind, a seed each; the terms are those of the first."""
    hits, trials = [fit["hits"] for fit in fits], options.trials * (options.stretch - 1)
    return {
        "recipe": kind.recipe,
        "layers": kind.layers,
        "placement": kind.placement,
        "strength": kind.strength,
        **share(sum(hits), trials * options.seeds),
        "seeds": [count / trials for count in hits],
        "loss": [fit["loss"] for fit in fits],
        "terms": fits[0]["terms"],
    }


def build(options: InductionOptions, layers: int, placement: Placement, strength: float, seed: int) -> TokenLM:
    """A model of `layers` layers with the shear at its place; strength 0 is the scheme alone."""
    momentum = MomentumConfig(strength=strength) if strength > 0 else None
    config = options.model.but(layers=layers, context=options.length, position=options.position.but(momentum=momentum))
    model = TokenLM(config, options.vocabulary, seed)
    if momentum is not None and placement == "before":
        for attention in model.attentions():
            assert isinstance(attention.scheme, Momentum)
            attention.scheme = ShearBefore(attention.scheme.inner, config, momentum)
    return model


def take_recipe(train: TrainConfig, recipe: Recipe) -> TrainConfig:
    """What the literature advises for momentum: learning rate / 3, warm-up x 1.3."""
    return train if recipe == "none" else train.but(lr=train.lr / 3, warmup=round(train.warmup * 1.3))


def _sequences(options: InductionOptions, count: int, seed: int, purpose: str, number: int) -> Repetitions:
    return repetitions(options.vocabulary, options.length, options.stretch, count, seed, purpose, number)


def _batch(options: InductionOptions, seed: int, step: int) -> Batch:
    return asked(_sequences(options, options.train.batch_size, seed, "train", step))


@torch.inference_mode()
def _hits(model: TokenLM, sequences: Repetitions) -> int:
    inputs, targets = asked(sequences)
    guesses = torch.cat([model(part).argmax(-1) for part in torch.split(inputs, 64)])
    return int((guesses == targets).sum())


def strength_law(rows: Sequence[dict[str, Any]], recipe: Recipe) -> dict[str, Any] | None:
    """The best strength of each depth and the exponent of g* = c N^-a through them; None for fewer than three depths.

    The best is the one with the most hits among strengths above 0, of the shear at its right place.
    """
    right = [row for row in rows if row["recipe"] == recipe and row["placement"] == "after" and row["strength"] > 0]
    depths = sorted({row["layers"] for row in right})
    best = [max((row for row in right if row["layers"] == n), key=lambda row: row["hits"])["strength"] for n in depths]
    if len(depths) < 3:
        return None
    slope, start = np.polyfit(np.log(depths), np.log(best), 1)
    return {
        "recipe": recipe,
        "layers": depths,
        "best": best,
        "exponent": -float(slope),
        "factor": math.exp(start),
    }
