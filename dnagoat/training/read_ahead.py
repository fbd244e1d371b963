"""The windows of the next step, read while this one is trained: on network storage they are page faults, and slow."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from dnagoat.genome.alphabet import Codes
from dnagoat.training.feed import Feed


class ReadAhead:
    """Micro-batches of steps that are asked for one after the other; those of the next are read in a thread."""

    def __init__(self, feed: Feed) -> None:
        self.feed = replace(feed, drawn={})  # drawn in a thread of its own
        self.thread = ThreadPoolExecutor(1)
        self.coming: tuple[int, Future[list[Codes]]] | None = None

    def micro_batches(self, step: int) -> list[Codes]:
        """Those of a step; the next step's are begun, where there is one."""
        asked = self.coming if self.coming and self.coming[0] == step else (step, self._begun(step))
        batches = asked[1].result()
        self.coming = (step + 1, self._begun(step + 1)) if step < self.feed.train.steps else None
        return batches

    def close(self) -> None:
        """Leaves off; nothing that was begun is waited for but the step at hand."""
        self.thread.shutdown(cancel_futures=True)

    def _begun(self, step: int) -> Future[list[Codes]]:
        return self.thread.submit(self.feed.micro_batches, step)
