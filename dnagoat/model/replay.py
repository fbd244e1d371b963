"""A step that is recorded once and then replayed: on a GPU as a CUDA graph, which is one launch whatever is in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Protocol

import torch

Step = Callable[[], None]


class Recorder(Protocol):
    """What can record a step that works in place, on memory that stays where it is."""

    def run(self, step: Step) -> None:
        """Runs the step as one that will be recorded has to be run before."""

    def record(self, step: Step) -> Step:
        """What replays the step; recording it runs nothing."""


class CudaGraphs:
    """CUDA graphs on a stream of their own, with one pool of memory, which only the newest uses."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def run(self, step: Step) -> None:
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            step()
        current.wait_stream(self._stream)

    def record(self, step: Step) -> Step:
        graph = torch.cuda.CUDAGraph()
        # The outer context comes back to its stream where recording fails, the inner one does not. Other threads may go
        # on with what they do: none of it is in the graph.
        with (
            torch.cuda.stream(torch.cuda.current_stream(self._stream.device)),
            torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"),
        ):
            step()
        return graph.replay


class Replay:
    """A step of each of several sizes, asked for one size after the other.

    The first of a size is run as it is: libraries choose their routines and reserve their memory in it. The second is
    recorded, and replayed from then on. Where recording fails all steps are run, and a warning says so once.
    """

    def __init__(self, step: Callable[[int], None], recorder: Recorder | None) -> None:
        self._step, self._recorder = step, recorder
        self._size = -1
        self._replay: Step | None = None

    def __call__(self, size: int) -> None:
        """The step of this size."""
        if self._recorder is None:
            self._step(size)
        elif size != self._size:
            self._size, self._replay = size, None
            self._recorder.run(lambda: self._step(size))
        else:
            if self._replay is None:
                self._replay = self._recorded(self._recorder, size)
            self._replay()

    def _recorded(self, recorder: Recorder, size: int) -> Step:
        try:
            return recorder.record(lambda: self._step(size))
        except RuntimeError as why:  # no fault of the step: it has just been run
            self._recorder = None
            said = f"no CUDA graph could be made here, so that operations are launched one by one: {why}"
            warnings.warn(said, RuntimeWarning, stacklevel=2)
            return lambda: self._step(size)
