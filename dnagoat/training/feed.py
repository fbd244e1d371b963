"""Which windows a step sees: a pure function of the seed and the step, whatever the number of processes."""

# B windows of the effective batch, W window width

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dnagoat.config import TrainConfig
from dnagoat.errors import OptionError, WindowError
from dnagoat.genome.alphabet import Codes, Ints, reverse_complement
from dnagoat.genome.batches import gather, sample, shifted
from dnagoat.genome.dataset import Dataset

CHUNK = 64  # steps drawn together


@dataclass(frozen=True)
class Feed:
    """Training batches of one process: step s takes samples s*B .. (s+1)*B, of which each process has its share."""

    dataset: Dataset
    train: TrainConfig
    starts: Ints  # (windows,) of all training windows
    room: Ints  # (windows, 2): the lowest and the highest start that a shift may reach
    rank: int = 0
    processes: int = 1
    drawn: dict[int, tuple[Ints, NDArray[np.bool_]]] = field(default_factory=dict)  # of the chunk at hand

    @classmethod
    def of(cls, dataset: Dataset, train: TrainConfig, rank: int = 0, processes: int = 1) -> Feed:
        starts = dataset.starts("train")
        if not len(starts):
            raise WindowError(
                f"{dataset.path} has no training window; prepare it with fewer contigs for validation and test"
            )
        if train.batch_size % processes:
            raise OptionError(
                f"--batch-size {train.batch_size} does not divide over {processes} processes; give a multiple"
            )
        return cls(dataset, train, starts, dataset.room("train"), rank, processes)

    @property
    def share(self) -> int:
        """Windows of one process a step."""
        return self.train.batch_size // self.processes

    def batch(self, step: int) -> Codes:
        """Codes (B / processes, W) of this process at step 1, 2, ...; reverse-complemented where the coin says so."""
        starts, flips = self._drawn(step, self._own)
        codes = gather(self.dataset.tokens, starts, self.dataset.window)
        if flips is not None:
            codes[flips] = reverse_complement(codes[flips])
        return codes

    @property
    def _own(self) -> slice:
        """This process's windows of a step."""
        return slice(self.rank * self.share, (self.rank + 1) * self.share)

    def starts_of(self, step: int) -> Ints:
        """Where in the token store the windows of this process begin at a step, (B / processes,)."""
        return self._drawn(step, self._own)[0]

    def micro_batches(self, step: int) -> list[Codes]:
        """The same in as few parts as `micro_batch` allows, of nearly equal size; every process has as many."""
        parts = -(-self.share // (self.train.micro_batch or self.share))
        return np.array_split(self.batch(step), parts)

    def places(self, step: int, most: int = 4) -> str:
        """Where the windows of a step lie, for a sentence: `chr20:1000-2024, chr20:... and 4 more`."""
        starts, _ = self._drawn(step, slice(None))
        named = []
        for start in starts[:most]:
            contig, offset = self.dataset.locate(int(start))
            named.append(f"{contig.name}:{offset}-{offset + self.dataset.window}")
        more = f" and {len(starts) - most} more" if len(starts) > most else ""
        return ", ".join(named) + more

    def _drawn(self, step: int, part: slice) -> tuple[Ints, NDArray[np.bool_] | None]:
        """Starts (b,) of the windows of a part of a step, and which are read on the other strand (b,)."""
        chunk, place = divmod(step - 1, CHUNK)
        starts, flips = self._chunk(chunk)
        return starts[place, part], flips[place, part] if self.train.reverse_complement else None

    def _chunk(self, chunk: int) -> tuple[Ints, NDArray[np.bool_]]:
        """Starts and strands (CHUNK, B) of some steps together: drawing costs the same for one step as for many."""
        if chunk not in self.drawn:
            size = self.train.batch_size
            index = np.arange(chunk * CHUNK * size, (chunk + 1) * CHUNK * size)
            drawn = sample(self.train.seed, index, len(self.starts), self.train.jitter)
            starts = shifted(self.starts[drawn.windows], drawn.shifts, self.room[drawn.windows])
            self.drawn.clear()
            self.drawn[chunk] = starts.reshape(CHUNK, size), drawn.reverse_complement.reshape(CHUNK, size)
        return self.drawn[chunk]


def spread(starts: Ints, windows: int) -> Ints:
    """At most `windows` of the starts, spread evenly over them: always the same ones."""
    if len(starts) <= windows:
        return starts
    return starts[np.linspace(0, len(starts) - 1, windows).round().astype(np.int64)]
