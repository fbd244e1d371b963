"""Can a model find a key that it read long ago? The passkey and the needle, in nucleotides.

    filler ... MARKER key ... filler ... MARKER key            the second key is what the model must say

Passkey: the filler is one short repeat, so that the key is the only news. Needle: the filler is random, so that
nothing but the marker tells the key from the rest. Neither holds the marker by chance: a model that asks what stood
behind it has one answer, however long the sequence. Sequences are a pure function of (seed, purpose, batch number).
"""

# B sequences, W symbols of a sequence

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError
from dnagoat.genome.alphabet import Codes, encode

TaskName = Literal["passkey", "needle"]
MARKER = "GATCACAGTCTACCGTATGC"
REPEAT = "TTAGGG"  # the telomere's


@dataclass(frozen=True)
class Task:
    """What is hidden and where: `marker` and `key` are lengths in bases."""

    name: TaskName
    marker: int
    key: int

    def __post_init__(self) -> None:
        if not 2 <= self.marker <= len(MARKER):  # one base stands in every filler
            raise OptionError(f"--marker {self.marker}: markers of 2 to {len(MARKER)} bases are known")
        if self.key < 1:
            raise OptionError(f"--key {self.key}: a key has at least one base")

    @property
    def chance(self) -> float:
        """How often a guess is the whole key."""
        return 0.25**self.key

    def room(self, length: int) -> int:
        """How many places the first marker can stand at, less one, in sequences of `length` bases."""
        room = length - 2 * (self.marker + self.key)
        if room < 0:
            raise OptionError(
                f"a sequence of {length} bases cannot hold {self.marker} + {self.key} bases twice; "
                f"give at least --length {2 * (self.marker + self.key)}"
            )
        return room


def episodes(task: Task, length: int, depths: NDArray[np.float64], seed: int, purpose: str, number: int) -> Codes:
    """Codes (B, length), one sequence a depth in [0, 1]: 0 puts the key first, 1 next to the question.

    What makes the marker stand anywhere else than before the two keys is drawn again.
    """
    random = np.random.default_rng([seed, number, *purpose.encode()])
    codes = _filler(task, random, len(depths), length)
    starts = np.round(depths * task.room(length)).astype(np.int64)
    marker, rows = encode(MARKER)[: task.marker], np.arange(len(depths))
    key = random.integers(0, 4, size=(len(depths), task.key), dtype=np.uint8)
    last = length - task.marker - task.key
    while True:
        marked = np.concatenate([np.broadcast_to(marker, (len(depths), task.marker)), key], axis=1)
        codes[rows[:, None], starts[:, None] + np.arange(marked.shape[1])] = marked
        codes[:, last:] = marked
        found = _standing(marker, codes)
        found[rows, starts] = found[:, last] = False
        astray, places = np.nonzero(found)
        if not len(astray):
            return codes
        if task.name == "needle":
            covered = places[:, None] + np.arange(task.marker)
            codes[astray[:, None], covered] = random.integers(0, 4, size=covered.shape, dtype=np.uint8)
        again = np.unique(astray)  # the marker may stand in the key, or across its ends
        key[again] = random.integers(0, 4, size=(len(again), task.key), dtype=np.uint8)


def _standing(marker: Codes, codes: Codes) -> NDArray[np.bool_]:
    """(B, W - marker + 1): whether the marker begins here."""
    count = codes.shape[1] - len(marker) + 1
    found = np.ones((len(codes), count), dtype=bool)
    for place, base in enumerate(marker):
        found &= codes[:, place : place + count] == base
    return found


def _filler(task: Task, random: np.random.Generator, count: int, length: int) -> Codes:
    if task.name == "needle":
        return random.integers(0, 4, size=(count, length), dtype=np.uint8)
    repeat = encode(REPEAT)
    phases = random.integers(0, len(repeat), size=(count, 1))
    return np.take(repeat, (phases + np.arange(length)) % len(repeat))
