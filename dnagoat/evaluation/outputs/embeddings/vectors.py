"""One vector for each text: the states of a layer at its bases, averaged, or that of its last base.

A text longer than the context is read in pieces as scores are: each base's state is taken once, from the piece that
would score it, so that context - stride bases stand before it; an N is read and has no state.
"""

# n parts, B pieces in a batch, W bases of a piece, D width

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

import dnagoat
from dnagoat.attention.fast.subnormals import flush_subnormals
from dnagoat.evaluation.outputs.embeddings.layers import Layer, find_layer, states
from dnagoat.evaluation.outputs.embeddings.texts import Text
from dnagoat.evaluation.outputs.readings import context_and_stride, cuts, hold
from dnagoat.evaluation.scoring.at_once import bases_at_once
from dnagoat.evaluation.scoring.pieces import sliding
from dnagoat.frozen import Frozen
from dnagoat.genome.alphabet import C, Codes, G, Ints, N
from dnagoat.genome.batches import gather
from dnagoat.model.transformer import DnaLM
from dnagoat.progress import Progress, silent
from dnagoat.training.kept.checkpoint import model_sha256
from dnagoat.training.kept.run import Run

Vectors = NDArray[np.float64]
BATCHES, LEAST = 16, 64


class EmbedOptions(Frozen):
    """What of a model becomes a vector; see docs/embeddings.md."""

    layer: str = Field("norm", description="norm, embedding, or the number of a block")
    pool: Literal["mean", "last"] = "mean"
    strands: Literal["own", "both"] = "own"
    context: int | None = Field(None, ge=1, description="bases read at once; None = those of training")
    stride: int | None = Field(None, ge=1, description="bases by which pieces move; None = half the context")
    before: int | None = Field(None, ge=0, description="bases before a region that are read; None = context - stride")


class Part(NamedTuple):
    """Bases [start, end) of a strand of a text, with `room` before them; the last part closes the text."""

    text: Text
    turned: bool
    start: int
    end: int
    room: int
    closes: bool

    @property
    def size(self) -> int:
        return self.end - self.start + self.room

    def codes(self) -> Codes:
        return self.text.read(self.turned, self.start, self.end, self.room)


class Embedding(NamedTuple):
    """The vector (D,) float32 of a text, NaN where no base of it is known, and how many are, and are G or C."""

    text: Text
    known: int
    gc: int
    vector: NDArray[np.float32]


@dataclass
class _Pool:
    """What a strand of a text has given so far."""

    total: Vectors
    count: int = 0
    last: Vectors | None = None

    def vector(self, pool: Literal["mean", "last"]) -> Vectors:
        """The vector of a strand that has a known base."""
        return self.total / self.count if pool == "mean" or self.last is None else self.last


@dataclass
class Reader:
    """A model, and how it is asked."""

    model: DnaLM
    options: EmbedOptions
    batch_bases: int
    layer: Layer = field(init=False)
    context: int = field(init=False)
    stride: int = field(init=False)

    def __post_init__(self) -> None:
        self.layer = find_layer(self.model, self.options.layer)
        self.context, self.stride = context_and_stride(self.model, self.options.context, self.options.stride)
        sliding([(0, 1)], self.context, self.stride)  # says what a stride may be
        self.batch_bases = bases_at_once(self.model, self.batch_bases, self.context)

    @property
    def width(self) -> int:
        return self.model.config.width

    @flush_subnormals()
    def embed(self, texts: Iterable[Text], total: int = 0, progress: Progress = silent) -> Iterator[Embedding]:
        """The vectors of texts in their order, of which there are `total`; what is read together changes nothing."""
        done = 0
        progress("embedding", 0, total)
        strands: dict[bool, _Pool] = {}
        known = gc = 0
        parts = (part for text in texts for part in self._parts(text))
        # A few batches, so that progress is told; a short part weighs more, since its vector is held too.
        for held in hold(parts, lambda part: max(part.size, LEAST), BATCHES * self.batch_bases):
            codes = [part.codes() for part in held]
            totals, counts, lasts = self._pool(held, codes)
            for number, part in enumerate(held):
                pool = strands.setdefault(part.turned, _Pool(np.zeros(self.width)))
                pool.total += totals[number]
                pool.count += int(counts[number])
                pool.last = lasts.get(number, pool.last)
                if part.turned == part.text.turned:
                    own = codes[number][part.room :]
                    known, gc = known + int((own < N).sum()), gc + int(((own == C) | (own == G)).sum())
                if part.closes:
                    yield Embedding(part.text, known, gc, self._vector(strands))
                    strands, known, gc, done = {}, 0, 0, done + 1
            progress("embedding", done, total)

    def _parts(self, text: Text) -> Iterator[Part]:
        """The own strand first, and the other where it is asked for."""
        most = self.context - self.stride if self.options.before is None else self.options.before
        turns = [text.turned] if self.options.strands == "own" else [text.turned, not text.turned]
        for turned in turns:
            room = min(most, self.context - self.stride, text.rooms[turned])
            for start, end, before in cuts(text.length, room, self.context, self.stride):
                yield Part(text, turned, start, end, before, closes=turned == turns[-1] and end == text.length)

    def _vector(self, strands: dict[bool, _Pool]) -> NDArray[np.float32]:
        """The mean over strands; each has the same known bases."""
        found = [pool.vector(self.options.pool) for pool in strands.values() if pool.count]
        mean = sum(found, np.zeros(self.width)) / max(len(found), 1)
        return (mean if found else np.full(self.width, np.nan)).astype(np.float32)

    def _pool(self, held: list[Part], codes: list[Codes]) -> tuple[Vectors, Ints, dict[int, Vectors]]:
        """Of each part the sum of its states (n, D), how many there are (n,), and the last one where there is one."""
        totals, counts = np.zeros((len(held), self.width)), np.zeros(len(held), dtype=np.int64)
        lasts: dict[int, Vectors] = {}
        filled = [number for number, part in enumerate(held) if part.start < part.end]
        if not filled:
            return totals, counts, lasts
        tokens, ends = np.concatenate(codes), np.cumsum([len(read) for read in codes])
        regions = [(int(ends[n]) - (held[n].end - held[n].start), int(ends[n])) for n in filled]
        pieces = sliding(regions, self.context, self.stride, [held[n].room for n in filled])
        owners = np.searchsorted(ends, pieces.starts, side="right")
        latest = np.full(len(held), -1)
        for batch in pieces.batches(self.batch_bases):
            read = gather(tokens, pieces.starts[batch], int(pieces.widths[batch[0]]))
            counted = pieces.places(batch)[0] & (read < N)
            found = states(self.model, self.layer, read)
            if self.options.pool == "mean":
                weights = torch.from_numpy(counted).to(found.device, torch.float64)
                np.add.at(totals, owners[batch], torch.einsum("bw,bwd->bd", weights, found.double()).cpu().numpy())
            np.add.at(counts, owners[batch], counted.sum(1))
            if self.options.pool == "last":
                for row in np.flatnonzero(counted.any(1)):
                    owner, piece = int(owners[batch[row]]), int(batch[row])
                    if piece > latest[owner]:
                        latest[owner] = piece
                        lasts[owner] = found[row, np.flatnonzero(counted[row])[-1]].double().cpu().numpy()
        return totals, counts, lasts


def about(run: Run, checkpoint: str, reader: Reader) -> dict[str, str]:
    """Whose vectors they are, and how they came to be."""
    options = reader.options.but(layer=reader.layer.name, context=reader.context, stride=reader.stride)
    return {
        "run": run.name,
        "checkpoint": model_sha256(run.checkpoint("last" if checkpoint == "last" else "best")),
        **{name: str(value) for name, value in options.model_dump().items() if value is not None},
        "tool": dnagoat.__version__,
    }
