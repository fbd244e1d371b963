"""How often a word stands in training, against counting in plain text, both strands; N and short contexts apart."""

from __future__ import annotations

import numpy as np
import pytest

from dnagoat.evaluation.scoring.pieces import Pieces, sliding, stretches
from dnagoat.evaluation.scoring.seen import UNREAD, WORD, occurrences
from dnagoat.genome.alphabet import decode, reverse_complement
from dnagoat.genome.dataset import Dataset
from dnagoat.genome.preparation import PrepareOptions, prepare

FAMILY = "ACGTTGCAAGTCCATGGATCAGGTACCTTAGC"  # 32 bases that come again and again


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Random bases with a family on both strands, a hundred times in training and now and then in test."""
    folder, rng = tmp_path_factory.mktemp("families"), np.random.default_rng(0)
    other = FAMILY[::-1].translate(str.maketrans("ACGT", "TGCA"))

    def text(copies: int) -> str:
        return "".join(
            "".join(rng.choice(list("ACGT"), 96)) + (FAMILY if each % 3 else other) for each in range(copies)
        )

    source = folder / "families.fa"
    source.write_text(f">train\n{text(100)}\n>val\n{text(4)}\n>test\n{text(20)[:1500]}NN{text(9)}\n")
    options = PrepareOptions(window=64, val=("val",), test=("test",))
    return prepare(source, folder / "data", options)


@pytest.mark.parametrize("stride", [64, 32])
def test_occurrences_are_those_of_the_text(families: Dataset, stride: int) -> None:
    pieces = sliding(stretches(families, "test"), 64, stride)
    training = [families.codes(*each) for each in stretches(families, "train")]
    strands = [decode(strand) for each in training for strand in (each, reverse_complement(each))]
    found = occurrences(families, pieces)
    for times, place, context in zip(found, pieces.positions(), pieces.contexts(), strict=True):
        word = decode(families.codes(int(place) - WORD, int(place))) if context >= WORD else "N"
        expected = UNREAD if "N" in word else sum(_count(strand, word) for strand in strands)
        assert times == expected
    assert found.max() == 100 and (found == 0).any() and (found == UNREAD).any()


def _count(text: str, word: str) -> int:
    """Occurrences that may overlap."""
    return sum(text.startswith(word, place) for place in range(len(text) - len(word) + 1))


def test_nothing_is_read_before_short_pieces(families: Dataset) -> None:
    start = families.starts("test")[:3]
    pieces = Pieces(start, np.full(3, WORD), np.zeros(3, dtype=np.int64))
    assert (occurrences(families, pieces) == UNREAD).all()
