"""Copies: a planted one is followed through mismatches, on both strands; a window never copies from itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dnagoat.counts.memory.features import AGREED, STREAK
from dnagoat.counts.memory.reading import NEIGHBOURHOOD, Reader
from dnagoat.counts.memory.tables import Memory, open_memory
from dnagoat.genome.alphabet import N, encode, reverse_complement
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.genome.dataset import Dataset
from tests.counts.memory.genome import dataset_of, repetitive

WIDTH = 256


def random_letters(length: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(list("ACGT"), length)


def votes_of(reader: Reader, codes: np.ndarray) -> np.ndarray:
    """Votes (T, agreement, streak, 4) before each of codes (T,)."""
    features = reader.read(reader.begin(1), to_inputs_targets(codes[None])[0])
    return features.votes[0].reshape(len(codes), len(AGREED), len(STREAK), 4)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The test contig is a stretch of training with a mismatch every 20 bases; the rest is random."""
    train = random_letters(12_000, 1)
    copy = train[5000 : 5000 + WIDTH].copy()
    for at in range(15, WIDTH, 20):
        copy[at] = "A" if copy[at] != "A" else "C"
    contigs = {"a": train, "val": random_letters(1000, 2), "test": copy}
    return dataset_of(tmp_path_factory.mktemp("planted"), contigs, WIDTH)


@pytest.mark.parametrize("other_strand", [False, True])
def test_a_planted_copy_is_followed_through_mismatches(planted: Dataset, other_strand: bool) -> None:
    start = int(planted.starts("test")[0])
    codes, source = planted.codes(start, start + WIDTH), planted.codes(5000, 5000 + WIDTH)
    if other_strand:
        codes, source = reverse_complement(codes), reverse_complement(source)
    votes = votes_of(Reader(open_memory(planted), ("words", "copies")), codes)
    for t in range(40, WIDTH):
        agreement = int((codes[t - 32 : t] == source[t - 32 : t]).sum())
        different = np.flatnonzero(codes[:t][::-1] != source[:t][::-1])
        streak = int(different[0]) if different.size else 32
        level = np.searchsorted(AGREED, agreement, "right") - 1, np.searchsorted(STREAK, min(streak, 32), "right") - 1
        assert votes[t][level][source[t]] == 1, f"base {t}: the copy is not among the votes"
        assert votes[t].sum() == 1


def test_a_window_does_not_copy_from_its_own_neighbourhood(planted: Dataset) -> None:
    """A training window is its own best copy; read as training it has none, and one from afar is still used."""
    reader, starts = Reader(open_memory(planted), ("words", "copies")), planted.starts("train")[[0, 20]]
    codes = np.stack([planted.codes(start, start + WIDTH) for start in starts])
    inputs = to_inputs_targets(codes)[0]
    assert reader.read(reader.begin(2), inputs).votes.sum() > WIDTH
    assert reader.read_training(inputs, starts).votes.sum() == 0
    elsewhere = np.array([0, 0])  # the second window's words, read as if it stood far from where they are
    assert planted.starts("train")[20] > WIDTH + NEIGHBOURHOOD
    assert reader.read_training(inputs, elsewhere).votes[1].sum() > WIDTH / 2


def test_n_ends_copies_and_words(dataset: Dataset, memory: Memory) -> None:
    reader = Reader(memory, ("words", "gaps", "copies", "context"))
    codes = encode("".join(repetitive(300, 9, n_share=0)))
    inputs = to_inputs_targets(codes[None])[0]
    without = reader.read(reader.begin(1), inputs).votes[0].sum((1, 2), dtype=int)
    at = int(without[60:240].argmax()) + 60  # the symbol after which most copies are followed
    assert without[at : at + 12].min() > 0
    inputs[0, at] = N
    features = reader.read(reader.begin(1), inputs)
    assert features.votes[0, at : at + 12].sum() == 0, "a copy was followed across an N, or found by a broken word"
    assert features.seen[0, at].sum() == 0
    assert features.votes[0, at + 12 :].sum() > 0


def test_reading_in_pieces_is_reading_at_once(dataset: Dataset, memory: Memory, tmp_path: Path) -> None:
    """Bit for bit, whatever the split, the batch and the number of threads."""
    codes = np.stack([encode("".join(repetitive(300, seed))) for seed in (11, 12, 13)])
    inputs = to_inputs_targets(codes)[0]
    reader = Reader(memory, ("words", "gaps", "copies", "context"), threads=1)
    whole = reader.read(reader.begin(3), inputs)
    threaded = Reader(memory, ("words", "gaps", "copies", "context"), threads=3)
    state = threaded.joined([threaded.begin(1), threaded.begin(2)])
    parts = [
        threaded.read(state, inputs[:, edges[0] : edges[1]]) for edges in ((0, 1), (1, 150), (150, 151), (151, 300))
    ]
    for name, field in whole._asdict().items():
        np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in parts], axis=1), field)
    alone = reader.read(reader.begin(1), inputs[1:2])
    np.testing.assert_array_equal(alone.says[0], whole.says[1])
    np.testing.assert_array_equal(alone.votes[0], whole.votes[1])


def test_nothing_before_a_base_knows_it(dataset: Dataset, memory: Memory) -> None:
    """Changing symbol t changes no feature before it."""
    reader = Reader(memory, ("words", "gaps", "copies", "context"))
    inputs = to_inputs_targets(encode("".join(repetitive(200, 21)))[None])[0]
    before = reader.read(reader.begin(1), inputs)
    for t in (1, 60, 150):
        changed = inputs.copy()
        changed[0, t] = (changed[0, t] + 1) % 4
        after = reader.read(reader.begin(1), changed)
        for name, field in before._asdict().items():
            np.testing.assert_array_equal(getattr(after, name)[0, :t], field[0, :t])
        assert (after.says[0, t:] != before.says[0, t:]).any()
