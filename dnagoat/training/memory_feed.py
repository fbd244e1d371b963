"""What memory says of a step's windows, without the windows themselves, computed while the step before is trained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dnagoat.counts.memory.features import Features
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.training.feed import Feed
from dnagoat.training.read_ahead import StepAhead

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader


def look_up_ahead(feed: Feed, reader: Reader) -> StepAhead[list[Features]]:
    """Features of each step's micro-batches: a pure function of the step."""
    own = replace(feed, drawn={})  # drawn in a thread of its own

    def features(step: int) -> list[Features]:
        parts = own.micro_batches(step)
        starts = np.array_split(own.starts_of(step), len(parts))
        return [
            reader.read_training(to_inputs_targets(codes)[0], mine) for codes, mine in zip(parts, starts, strict=True)
        ]

    return StepAhead(features, feed.train.steps)
