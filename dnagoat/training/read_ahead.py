"""What the next step needs, made while this one is trained: windows on network storage are page faults, and slow."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Generic, TypeVar

from dnagoat.genome.alphabet import Codes
from dnagoat.training.feed import Feed

Made = TypeVar("Made")


class StepAhead(Generic[Made]):
    """What is made for each of so many steps, which are asked for one after the other: the next one's in a thread."""

    def __init__(self, make: Callable[[int], Made], steps: int) -> None:
        self.make, self.steps = make, steps
        self.thread = ThreadPoolExecutor(1)
        self.coming: tuple[int, Future[Made]] | None = None

    def of(self, step: int) -> Made:
        """What a step needs; the next step's is begun, where there is one."""
        asked = self.coming if self.coming and self.coming[0] == step else (step, self._begun(step))
        made = asked[1].result()
        self.coming = (step + 1, self._begun(step + 1)) if step < self.steps else None
        return made

    def close(self) -> None:
        """Leaves off; nothing that was begun is waited for but the step at hand."""
        self.thread.shutdown(cancel_futures=True)

    def _begun(self, step: int) -> Future[Made]:
        return self.thread.submit(self.make, step)


def read_ahead(feed: Feed) -> StepAhead[list[Codes]]:
    """The micro-batches of each step of training."""
    return StepAhead(replace(feed, drawn={}).micro_batches, feed.train.steps)  # drawn in a thread of its own
