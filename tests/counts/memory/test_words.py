"""Counts after words: those of a plain dictionary, with N, window starts, both strands, and a window left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import Memory
from dnagoat.genome.alphabet import START, N, reverse_complement
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.genome.dataset import Dataset
from tests.counts.memory.genome import WINDOW
from tests.counts.memory.reference import counted, said

EXACT: dict[str, Any] = {"rtol": 1e-6, "atol": 1e-6}  # float32 of logarithms


def training(dataset: Dataset, unknown: slice = slice(0)) -> list[np.ndarray]:
    """The training stretches; a part of the token store may be made unknown."""
    tokens = np.array(dataset.tokens) & 7
    tokens[unknown] = N
    return [tokens[start:end] for start, end in dataset.spans("train")]


def inputs(codes: np.ndarray) -> np.ndarray:
    return to_inputs_targets(codes)[0]


def test_words_and_gaps_equal_a_dictionary(dataset: Dataset, memory: Memory) -> None:
    reader, counts = Reader(memory, ("words", "gaps")), counted(training(dataset))
    starts = dataset.starts("test")[:6]
    codes = np.stack([dataset.codes(start, start + WINDOW) for start in starts])
    assert (codes == N).any()
    features = reader.read(reader.begin(6), inputs(codes))
    for row in range(6):
        says, seen = said(counts, codes[row])
        np.testing.assert_allclose(features.says[row], says, **EXACT)
        np.testing.assert_allclose(features.seen[row], seen, **EXACT)
    assert (features.seen[:, :, -1] > 0).any(), "no word of 24 bases was ever found"


@pytest.mark.parametrize("place", [0, 20, -1])
def test_own_words_are_left_out(dataset: Dataset, memory: Memory, place: int) -> None:
    """As if the window had been unknown when everything was counted; on either strand."""
    reader, start = Reader(memory, ("words", "gaps")), int(dataset.starts("train")[place])
    counts = counted(training(dataset, slice(start, start + WINDOW)))
    own = dataset.codes(start, start + WINDOW)
    for codes in (own, reverse_complement(own)):
        features = reader.read_training(inputs(codes[None]), np.array([start]))
        says, seen = said(counts, codes)
        np.testing.assert_allclose(features.says[0], says, **EXACT)
        np.testing.assert_allclose(features.seen[0], seen, **EXACT)
        kept = reader.read(reader.begin(1), inputs(codes[None]))
        assert (kept.seen >= features.seen).all() and (kept.seen > features.seen).any()


def test_surprise_is_what_was_said_of_the_base_that_came(dataset: Dataset, memory: Memory) -> None:
    reader, start = Reader(memory, ("words", "gaps")), int(dataset.starts("test")[1])
    symbols = inputs(dataset.codes(start, start + WINDOW)[None])
    features = reader.read(reader.begin(1), symbols)
    record = np.zeros((2, features.says.shape[2]))
    for t, symbol in enumerate(symbols[0]):
        known = t > 0 and symbol < 4
        expected = features.says[0, t - 1, :, symbol] if known else np.zeros(features.says.shape[2])
        np.testing.assert_allclose(features.surprise[0, t], expected, **EXACT)
        for f, fade in enumerate((0.9, 0.98) if known else ()):
            record[f] = fade * record[f] + (1 - fade) * expected
        np.testing.assert_allclose(features.records[0, t], record, **EXACT)
    assert symbols[0, 0] == START
