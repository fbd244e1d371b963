"""Which base comes next: temperature, top-k, top-p, banned motifs and a GC target, one random stream a sequence.

A stream is a counter-based generator (Philox, Salmon et al. 2011) keyed by seed, prompt and sample number, so that a
sequence's bases depend on nothing else: not on the batch, nor its order, nor the neighbours.
"""

# B sequences, M bases of a motif

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
from Bio.Data.IUPACData import ambiguous_dna_values
from pydantic import Field, field_validator

from dnagoat.errors import OptionError
from dnagoat.frozen import Frozen
from dnagoat.wording import counted

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp] | slice  # which sequences of a batch
EVERY = slice(None)

BLOCK = 256  # draws taken from each stream at a time


class SamplingOptions(Frozen):
    """How a base is drawn; applied in this order: banned motifs, GC target, temperature, top-k, top-p."""

    temperature: float = Field(1.0, ge=0, allow_inf_nan=False, description="0 takes the likeliest base")
    top_k: int | None = Field(None, ge=1, le=4)
    top_p: float | None = Field(None, gt=0, le=1)
    ban_motifs: tuple[str, ...] = Field((), description="motifs never written, IUPAC letters allowed")
    gc_target: float | None = Field(None, gt=0, lt=1)
    memory_strength: float | None = Field(
        None, ge=0, le=1, description="what memory adds to the logits, times this; None = as trained, which is 1"
    )
    seed: int = Field(0, ge=0, lt=2**64)

    @field_validator("ban_motifs")
    @classmethod
    def _motifs_are_dna(cls, motifs: tuple[str, ...]) -> tuple[str, ...]:
        for motif in motifs:
            if set(motif.upper()) - set(ambiguous_dna_values):
                raise ValueError(f"the motif {motif!r} is not DNA; use A, C, G, T and IUPAC codes")
            if not motif.upper().rstrip("NX"):
                raise ValueError(f"the motif {motif!r} forbids every sequence")
        # Whatever may follow, the last letter before the Ns is where the motif has to be stopped.
        return tuple(motif.upper().rstrip("NX") for motif in motifs)


class Streams:
    """One stream of uniform numbers in [0, 1) for each of B sequences; b takes its first at position starts[b].

    Positions are asked for in order.
    """

    def __init__(
        self, seed: int, prompts: Sequence[Codes], samples: Sequence[int], starts: Sequence[int] | None = None
    ) -> None:
        self._generators = [
            np.random.Philox(key=stream_key(seed, prompt, sample))
            for prompt, sample in zip(prompts, samples, strict=True)
        ]
        self._starts = starts if starts is not None else [0] * len(prompts)
        self._block = np.empty((BLOCK, len(prompts)))
        self._first = min(self._starts, default=0) - BLOCK  # the position of the block's first row

    def at(self, position: int) -> Floats:
        """Each sequence's number at this position, (B,); that of one which has not begun means nothing."""
        if position >= self._first + BLOCK:
            self._refill()
        numbers: Floats = self._block[position - self._first].copy()
        return numbers

    def _refill(self) -> None:
        self._first += BLOCK
        for column, (generator, start) in enumerate(zip(self._generators, self._starts, strict=True)):
            skipped = min(max(start - self._first, 0), BLOCK)
            raw = generator.random_raw(BLOCK - skipped)
            self._block[skipped:, column] = (raw >> np.uint64(11)) * 2.0**-53


def stream_key(seed: int, prompt: Codes, sample: int) -> int:
    """128 bits that name the stream of one sample of one prompt."""
    label = seed.to_bytes(8, "little") + sample.to_bytes(8, "little") + prompt.astype(np.uint8).tobytes()
    return int.from_bytes(blake2b(label, digest_size=16).digest(), "little")


class Sampler:
    """Draws the next base of each of B sequences and keeps what the draw depends on."""

    def __init__(
        self,
        options: SamplingOptions,
        prompts: Sequence[Codes],
        samples: Sequence[int],
        starts: Sequence[int] | None = None,
    ) -> None:
        self.options = options
        self.streams = Streams(options.seed, prompts, samples, starts)
        self.bans = [Ban(motif, prompts) for motif in options.ban_motifs]
        self.tilt = GcTilt(options.gc_target, len(prompts)) if options.gc_target is not None else None

    def draw(self, logits: Floats, position: int, rows: Rows = EVERY) -> Codes:
        """Bases (R,) drawn for the sequences `rows` from the model's logits (R, 4) at a position."""
        own = logits
        for ban in self.bans:
            logits = np.where(ban.forbidden(rows), -np.inf, logits)
        if self.bans and (dead := np.isneginf(logits).all(axis=1)).any():
            raise OptionError(
                f"the banned motifs leave no base to write for {counted(dead.sum(), 'sequence')}; ban fewer"
            )
        if self.tilt is not None:
            logits = self.tilt.tilted(logits, log_softmax(own), rows)
        bases = draw(chances(logits, self.options), self.streams.at(position)[rows])
        for ban in self.bans:
            ban.wrote(bases, rows)
        return bases


def chances(logits: Floats, options: SamplingOptions) -> Floats:
    """What is drawn from, (B, 4), up to a factor a row; at temperature 0 a tie goes to the first of A, C, G, T."""
    p: Floats
    if options.temperature == 0:
        p = np.eye(4)[logits.argmax(axis=1)]
        return p
    shifted = logits - np.maximum.reduce(logits, axis=1, keepdims=True)
    if options.temperature != 1:
        with np.errstate(over="ignore"):  # near temperature 0 a difference becomes -inf, and its share 0
            shifted /= options.temperature
    p = np.exp(shifted)
    if options.top_k is not None or options.top_p is not None:
        p = p / p.sum(axis=1, keepdims=True)
        p *= _kept(p, options.top_k or 4, options.top_p or 1.0)
    return p


def _kept(p: Floats, top_k: int, top_p: float) -> npt.NDArray[np.bool_]:
    """Which bases stay: the k likeliest, and of those the fewest that together reach top_p (at least one)."""
    order = np.argsort(-p, axis=1, kind="stable")
    ranked = np.take_along_axis(p, order, axis=1)
    before = np.cumsum(ranked, axis=1) - ranked
    keep = before < top_p
    keep[:, top_k:] = False
    kept = np.empty_like(keep)
    np.put_along_axis(kept, order, keep, axis=1)
    return kept


def log_softmax(logits: npt.NDArray[np.floating]) -> Floats:
    """Along the last axis, in float64."""
    shifted: Floats = logits.astype(np.float64)
    shifted -= shifted.max(axis=-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return shifted


def draw(chances: Floats, uniform: Floats) -> Codes:
    """Inverse of the cumulative distribution at `uniform` (B,), in [0, 1): never a base without a chance."""
    edges = np.add.accumulate(chances, axis=1)
    # Scaled by the rounded total, so that u < 1 always lies below the last edge.
    chosen: Codes = np.add.reduce(uniform[:, None] * edges[:, -1:] >= edges, axis=1, dtype=np.uint8)
    return chosen


def matrix_of(motif: str, prompts: Sequence[Codes]) -> tuple[npt.NDArray[np.bool_], Codes]:
    """Which bases each letter of a motif allows, (M, 4), and the last M - 1 codes of each prompt, (B, M - 1)."""
    allowed = np.array([[base in ambiguous_dna_values[letter] for base in "ACGT"] for letter in motif])
    before = len(motif) - 1
    recent = np.full((len(prompts), before), 4, np.uint8)  # N, which completes nothing
    for row, prompt in enumerate(prompts):
        tail = prompt[len(prompt) - min(before, len(prompt)) :]
        recent[row, before - len(tail) :] = tail
    return allowed, recent


class Ban:
    """Forbids the base that would complete a motif; motifs that straddle the prompt's end count too."""

    def __init__(self, motif: str, prompts: Sequence[Codes]) -> None:
        self.allowed, self.recent = matrix_of(motif, prompts)
        self._matches = np.concatenate([self.allowed, np.zeros((len(motif), 1), bool)], axis=1)

    def forbidden(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """(R, 4): true where writing the base would complete the motif."""
        recent = self.recent[rows]
        almost = self._matches[np.arange(recent.shape[1]), recent].all(axis=1, keepdims=True)
        forbidden: npt.NDArray[np.bool_] = almost & self.allowed[-1]
        return forbidden

    def wrote(self, bases: Codes, rows: Rows) -> None:
        if self.recent.shape[1]:
            self.recent[rows] = np.concatenate([self.recent[rows][:, 1:], bases[:, None]], axis=1)


class GcTilt:
    """Adds a tilt to the logits of G and C that steers a sequence's GC content to a target.

    The tilt is logit(target) - logit(g), with g the mean probability that the model itself has given to G or C along
    this sequence so far: a function of the sequence's own past alone.
    """

    def __init__(self, target: float, count: int) -> None:
        self.target = np.log(target) - np.log1p(-target)
        self.gc = np.zeros(count)
        self.steps = np.zeros(count)
        self.total = np.zeros(count)

    def tilted(self, logits: Floats, log_p: Floats, rows: Rows) -> Floats:
        self.gc[rows] += np.exp(log_p[:, 1:3]).sum(axis=1)
        self.steps[rows] += 1
        own = np.clip(self.gc[rows] / self.steps[rows], 1e-6, 1 - 1e-6)
        tilt = self.target - (np.log(own) - np.log1p(-own))
        self.total[rows] += tilt
        tilted: Floats = logits + tilt[:, None] * np.array([0.0, 1.0, 1.0, 0.0])
        return tilted

    def mean(self) -> Floats:
        """The mean tilt of each sequence in nats, 0 before the first base."""
        mean: Floats = self.total / np.maximum(self.steps, 1)
        return mean
