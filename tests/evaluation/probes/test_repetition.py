"""Sequences for induction: a stretch comes back, at no fixed distance, and the same seed makes the same ones."""

from __future__ import annotations

import pytest
import torch

from dnagoat.errors import OptionError
from dnagoat.evaluation.probes.repetition import asked, repetitions
from dnagoat.genome.batches import IGNORE


def test_every_answer_follows_the_same_symbol_in_the_stretch() -> None:
    made = repetitions(vocabulary=100, length=40, stretch=9, count=50, seed=0, purpose="test", number=0)
    rows = torch.arange(50)[:, None]
    assert torch.equal(made.tokens[rows, made.queries], made.tokens[rows, made.answers - 1])
    assert torch.equal(made.tokens[rows, made.queries + 1], made.tokens[rows, made.answers])
    assert (made.second >= made.first + 9).all() and (made.second + 9 <= 40).all()


def test_in_a_large_vocabulary_one_earlier_symbol_decides() -> None:
    made = repetitions(vocabulary=40, length=40, stretch=9, count=50, seed=1, purpose="test", number=0)
    for row, queries, answers in zip(made.tokens, made.queries, made.answers, strict=True):
        for query, answer in zip(queries.tolist(), answers.tolist(), strict=True):
            assert (row[:query] == row[query]).nonzero().flatten().tolist() == [answer - 1]


def test_distance_does_not_give_the_answer_away() -> None:
    made = repetitions(vocabulary=100, length=64, stretch=8, count=2000, seed=0, purpose="test", number=0)
    distances = (made.second - made.first).bincount()
    assert (distances > 0).sum() == 64 - 2 * 8 + 1
    assert distances.max() < 2000 * 0.05


def test_only_the_decided_symbols_are_asked() -> None:
    made = repetitions(vocabulary=30, length=20, stretch=5, count=10, seed=0, purpose="test", number=0)
    inputs, targets = asked(made)
    assert ((targets != IGNORE).sum(1) == 4).all()
    where = targets != IGNORE
    assert torch.equal(targets[where], made.tokens[:, 1:][where])
    assert torch.equal(inputs, made.tokens[:, :-1])


def test_sequences_depend_on_seed_purpose_and_number_alone() -> None:
    one = repetitions(20, 16, 4, 8, seed=3, purpose="train", number=7).tokens
    assert torch.equal(one, repetitions(20, 16, 4, 8, seed=3, purpose="train", number=7).tokens)
    others = [(4, "train", 7), (3, "test", 7), (3, "train", 8)]
    assert not any(torch.equal(one, repetitions(20, 16, 4, 8, *other).tokens) for other in others)


def test_a_stretch_that_does_not_fit_twice_is_refused() -> None:
    with pytest.raises(OptionError, match="does not come twice in 16"):
        repetitions(20, 16, 9, 1, 0, "test", 0)
