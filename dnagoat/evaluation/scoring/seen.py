"""How often the training split holds the bases before a scored one: what a model may know by heart, and what not."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dnagoat.counts.kmers import kmer_codes, reverse_complements
from dnagoat.counts.markov import overlapping
from dnagoat.evaluation.scoring.ladder import training
from dnagoat.evaluation.scoring.pieces import Pieces
from dnagoat.genome.alphabet import CODE
from dnagoat.genome.dataset import Dataset, open_dataset

# M scored bases, U different words

WORD = 16  # bases: a random one is expected 0.03 times on both strands of 60 million bases
UNREAD = -1

Words = NDArray[np.uint32]


def occurrences(dataset: Dataset, pieces: Pieces) -> NDArray[np.int64]:
    """For each scored base (M,) how often the 16 bases before it stand in the training split, on either strand.

    -1 where fewer than 16 bases were read before the base, or where one of them is N.
    """
    at = pieces.positions()
    readable = np.flatnonzero(pieces.contexts() >= WORD)
    words: Words = np.zeros(len(readable), dtype=np.uint32)
    known = np.ones(len(readable), dtype=bool)
    for back in range(WORD, 0, -1):
        codes = dataset.tokens[at[readable] - back] & np.uint8(CODE)
        words = (words << np.uint32(2)) | (codes & np.uint8(3)).astype(np.uint32)
        known &= codes < 4
    asked, place = np.unique(words[known], return_inverse=True)
    found = np.full(len(at), UNREAD, dtype=np.int64)
    found[readable[known]] = _counted(dataset.path, dataset.content_hash, asked.tobytes())[place]
    return found


@lru_cache(maxsize=2)
def _counted(path: Path, content_hash: str, asked: bytes) -> NDArray[np.int64]:
    """How often each word asked for (U,), ascending, occurs; kept, since runs of a comparison ask the same.

    The words of a chunk of the training split are sorted, and those asked for are sought among them.
    """
    words: Words = np.frombuffer(asked, dtype=np.uint32)
    counts = np.zeros(len(words), dtype=np.int64)
    for stretch in training(open_dataset(path)):
        for chunk in overlapping(stretch, WORD):
            kmers, known = kmer_codes(chunk, WORD)
            forward = kmers[known]
            for strand in (forward, reverse_complements(forward, WORD)):
                counts += _held(np.sort(strand.astype(np.uint32)), words)
    return counts


def _held(present: Words, asked: Words) -> NDArray[np.int64]:
    """How often each of the asked words stands among the present ones, both ascending."""
    counts: NDArray[np.int64] = np.searchsorted(present, asked, "right") - np.searchsorted(present, asked, "left")
    return counts
