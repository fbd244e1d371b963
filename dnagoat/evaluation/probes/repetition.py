"""Sequences that only induction can predict: a stretch of random symbols comes back (... A B ... A -> B).

The stretch and its return stand at random places: at a fixed distance, position alone would find the answer and any
one-layer model with relative positions would seem to do induction. A pure function of (seed, purpose, batch number).
"""

# B sequences, T symbols of a sequence, S symbols of the stretch

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from dnagoat.errors import OptionError
from dnagoat.evaluation.probes.fit import Batch
from dnagoat.genome.batches import IGNORE


class Repetitions(NamedTuple):
    """Tokens (B, T) int64, and where the stretch and its return begin, each (B,)."""

    tokens: Tensor
    first: Tensor
    second: Tensor
    stretch: int

    def to(self, device: str) -> Repetitions:
        return Repetitions(self.tokens.to(device), self.first.to(device), self.second.to(device), self.stretch)

    @property
    def queries(self) -> Tensor:
        """(B, S - 1) places whose next symbol the past decides: in the return, all but its last symbol."""
        return self.second[:, None] + torch.arange(self.stretch - 1, device=self.second.device)

    @property
    def answers(self) -> Tensor:
        """(B, S - 1) for each query the place that holds its answer: after the same symbol in the stretch."""
        return self.first[:, None] + torch.arange(1, self.stretch, device=self.first.device)


def repetitions(
    vocabulary: int, length: int, stretch: int, count: int, seed: int, purpose: str, number: int
) -> Repetitions:
    """Sequences of `length` symbols in which one stretch of `stretch` symbols comes twice, without overlap.

    All other symbols differ where the vocabulary is large enough for that, so that one earlier symbol decides; in a
    smaller vocabulary they are drawn with replacement, and an answer may be ambiguous.
    """
    spare = length - 2 * stretch
    if stretch < 2 or spare < 0:
        raise OptionError(f"a stretch of {stretch} symbols does not come twice in {length}; give 2 to {length // 2}")
    random = np.random.default_rng([seed, number, *purpose.encode()])
    tokens = _drawn(random, vocabulary, count, length, distinct=vocabulary >= length)
    # Two cut points among the spare symbols, in order: how many stand before the stretch and between the two.
    cuts = np.sort(random.integers(0, spare + 1, size=(count, 2)), axis=1)
    first, second = cuts[:, 0], cuts[:, 1] + stretch
    rows, within = np.arange(count)[:, None], np.arange(stretch)
    tokens[rows, second[:, None] + within] = tokens[rows, first[:, None] + within]
    return Repetitions(torch.from_numpy(tokens), torch.from_numpy(first), torch.from_numpy(second), stretch)


def _drawn(
    random: np.random.Generator, vocabulary: int, count: int, length: int, *, distinct: bool
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    if not distinct:
        return random.integers(0, vocabulary, size=(count, length))
    return random.permuted(np.tile(np.arange(vocabulary), (count, 1)), axis=1)[:, :length]


def asked(sequences: Repetitions) -> Batch:
    """Inputs and targets (B, T - 1): asked are the symbols that follow `queries`."""
    targets = torch.full_like(sequences.tokens[:, 1:], IGNORE)
    rows = torch.arange(len(targets), device=targets.device)[:, None]
    targets[rows, sequences.queries] = sequences.tokens[rows, sequences.queries + 1]
    return sequences.tokens[:, :-1], targets
