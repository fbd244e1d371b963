"""The longest exact match, against a search with Python's own `in`."""

from __future__ import annotations

import numpy as np
import pytest

from dnagoat.evaluation.written import memorised
from dnagoat.evaluation.written.memorised import longest_matches, packed, shared
from dnagoat.genome.alphabet import decode, reverse_complement

RNG = np.random.default_rng(0)
TRAINING = [
    RNG.integers(0, 4, 3000).astype(np.uint8),
    RNG.integers(0, 4, 500).astype(np.uint8),
    np.zeros(300, np.uint8),
]
TRAINING[0][100] = 4


def queries() -> np.ndarray:
    """Random ones with pieces of the training stretches planted in them, some on the other strand."""
    made = RNG.integers(0, 4, (9, 150)).astype(np.uint8)
    made[0, 10:70] = TRAINING[0][200:260]
    made[1] = reverse_complement(TRAINING[0][1000:1150])
    made[2, 40:] = TRAINING[1][390:]  # to the very end of a stretch
    made[3] = 0
    made[4, :100] = 3  # the other strand of a run
    made[5, 60:102] = TRAINING[0][90:132]  # an N within it
    made[6, 3:45], made[6, 45:87] = TRAINING[0][7:49], TRAINING[0][2007:2049]  # two pieces that are no one piece
    made[7, 50:113] = TRAINING[0][:63]  # three words exactly
    return made


def searched(query: np.ndarray) -> int:
    """The definition."""
    longest, stretches = 0, [decode(stretch) for stretch in TRAINING]
    for text in (decode(query), decode(reverse_complement(query))):
        for start in range(len(text)):
            while (end := start + longest + 1) <= len(text) and "N" not in text[start:end]:
                if not any(text[start:end] in stretch for stretch in stretches):
                    break
                longest += 1
    return longest


@pytest.mark.parametrize("chunk", [1 << 21, 97])
def test_planted_pieces_are_found_at_their_full_length(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memorised, "CHUNK", chunk)
    given = queries()
    found = longest_matches(given, TRAINING)
    assert found.tolist() == [searched(query) for query in given]
    assert found[:2].tolist() == [60, 150]


def test_nothing_matches_where_there_is_nothing() -> None:
    assert longest_matches(queries(), []).tolist() == [0] * 9
    assert longest_matches(np.full((1, 50), 4, np.uint8), [np.full(50, 4, np.uint8)]).tolist() == [0]


def test_letters_in_common_are_counted_from_the_beginning() -> None:
    base = RNG.integers(0, 4, memorised.WORD).astype(np.uint8)
    for place in range(memorised.WORD):
        other = base.copy()
        other[place] ^= 1
        assert shared(packed(base, 5)[:1], packed(other, 5)[:1]).tolist() == [place]
    assert shared(packed(base, 5)[:1], packed(base, 7)[:1]).tolist() == [memorised.WORD]
