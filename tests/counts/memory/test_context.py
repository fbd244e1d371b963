"""Words of what was read: those of a plain dictionary, on both strands, cut by N, the same in training."""

from __future__ import annotations

import math

import numpy as np

from dnagoat.config import Family
from dnagoat.counts.memory.experts import family_of
from dnagoat.counts.memory.reading import Reader
from dnagoat.counts.memory.tables import Memory
from dnagoat.genome.alphabet import N, encode
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.genome.dataset import Dataset
from tests.counts.memory.genome import WINDOW, repetitive

FAMILIES: tuple[Family, ...] = ("words", "context")
ALPHAS = {4: 60, 6: 20, 8: 6, 11: 2, 16: 1}
OWN = slice(family_of(FAMILIES).index("context"), None)


def followers(read: list[int], word: list[int]) -> list[int]:
    """How often each base followed a word in what was read, and on its other strand."""
    counts = [0, 0, 0, 0]
    other = [3 - c if c < 4 else 4 for c in reversed(read)]
    for text in (read, other):
        for p in range(len(word), len(text)):
            if text[p] < 4 and text[p - len(word) : p] == word:
                counts[text[p]] += 1
    return counts


def said(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nats above a guess (T, 5, 4) and log(1 + n) (T, 5) before each of codes (T,)."""
    says, seen = np.zeros((len(codes), 5, 4)), np.zeros((len(codes), 5))
    for t in range(len(codes)):
        read, lower = codes[:t].tolist(), [0.25] * 4
        for e, (k, alpha) in enumerate(ALPHAS.items()):
            word = read[t - k :] if t >= k else [4]
            counts = followers(read, word) if max(word) < 4 else [0] * 4
            lower = [(counts[b] + alpha * lower[b]) / (sum(counts) + alpha) for b in range(4)]
            says[t, e], seen[t, e] = np.log(lower) + math.log(4), math.log(1 + sum(counts))
    return says, seen


def test_context_equals_a_dictionary(memory: Memory) -> None:
    reader = Reader(memory, FAMILIES)
    codes = np.stack([encode("".join(repetitive(250, seed))) for seed in (31, 32)])
    codes[1, 125:] = codes[1, :125]  # a repeat of 125 bases
    codes[0, 150:] = (3 - codes[0, 100::-1].clip(max=3))[:100]  # a hairpin
    assert (codes == N).any()
    features = reader.read(reader.begin(2), to_inputs_targets(codes)[0])
    for row in range(2):
        says, seen = said(codes[row])
        np.testing.assert_allclose(features.says[row, :, OWN], says, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(features.seen[row, :, OWN], seen, rtol=1e-6, atol=1e-6)
        assert (features.seen[row, :, -1] > 0).any(), "no word of 16 bases came back"


def test_a_training_window_keeps_its_own_past(dataset: Dataset, memory: Memory) -> None:
    """What the window itself has read is no leak: it is the same in training and scoring, other words are not."""
    reader, start = Reader(memory, FAMILIES), int(dataset.starts("train")[3])
    inputs = to_inputs_targets(dataset.codes(start, start + WINDOW)[None])[0]
    scored, trained = reader.read(reader.begin(1), inputs), reader.read_training(inputs, np.array([start]))
    np.testing.assert_array_equal(trained.says[:, :, OWN], scored.says[:, :, OWN])
    assert (trained.seen != scored.seen).any()


def test_counts_stop_where_their_room_ends(memory: Memory) -> None:
    reader = Reader(memory, FAMILIES)
    features = reader.read(reader.begin(1), np.zeros((1, 66_000), np.int64))
    assert features.seen[0, -1, -1] == np.float32(math.log1p(65_535))
    assert (np.diff(features.seen[0, :, -1]) >= 0).all()
