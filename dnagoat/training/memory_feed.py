"""What memory says of a step's windows, without the windows themselves, computed while the step before is trained."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dnagoat.counts.memory.features import Features
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.training.feed import Feed

if TYPE_CHECKING:
    from dnagoat.counts.memory.reading import Reader


class MemoryFeed:
    """Features of the micro-batches of steps that are asked for one after the other: a pure function of the step."""

    def __init__(self, feed: Feed, reader: Reader) -> None:
        self.feed, self.reader = replace(feed, drawn={}), reader  # drawn in a thread of its own
        self.ahead = ThreadPoolExecutor(1)
        self.coming: tuple[int, Future[list[Features]]] | None = None

    def features(self, step: int) -> list[Features]:
        """Those of a step, one a micro-batch; the next step's are begun."""
        asked = self.coming if self.coming and self.coming[0] == step else (step, self._begun(step))
        features = asked[1].result()
        self.coming = (step + 1, self._begun(step + 1))
        return features

    def close(self) -> None:
        """Leaves off; nothing that was begun is waited for but the step at hand."""
        self.ahead.shutdown(cancel_futures=True)

    def _begun(self, step: int) -> Future[list[Features]]:
        return self.ahead.submit(self._computed, step)

    def _computed(self, step: int) -> list[Features]:
        parts = self.feed.micro_batches(step)
        starts = np.array_split(self.feed.starts_of(step), len(parts))
        return [
            self.reader.read_training(to_inputs_targets(codes)[0], own)
            for codes, own in zip(parts, starts, strict=True)
        ]
