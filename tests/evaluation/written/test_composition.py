"""Counts of what DNA is made of, against plain counting over strings."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from dnagoat.evaluation.written.composition import (
    LONGEST_RUN,
    cpg_ratio,
    dinucleotides,
    divergence,
    gc_fraction,
    homopolymers,
    kmer_counts,
    profile,
    sliding_gc,
    strand_symmetry,
)
from dnagoat.genome.alphabet import decode, encode, reverse_complement

RNG = np.random.default_rng(1)
ROWS = RNG.choice(5, (20, 300), p=[0.3, 0.19, 0.2, 0.3, 0.01]).astype(np.uint8)
TEXTS = [decode(row) for row in ROWS]


def rows(*texts: str) -> np.ndarray:
    return np.stack([encode(text) for text in texts])


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_words_are_counted_within_rows_and_never_over_an_n(k: int) -> None:
    expected = Counter(text[i : i + k] for text in TEXTS for i in range(len(text) - k + 1))
    names = ["".join(letters) for letters in product("ACGT", repeat=k)]
    assert kmer_counts(ROWS, k).tolist() == [expected[name] for name in names]


def test_sequences_shorter_than_a_word_have_none() -> None:
    assert kmer_counts(rows("ACG"), 4).sum() == 0


def test_sliding_gc_is_that_of_each_whole_window() -> None:
    found = sliding_gc(ROWS, 64, 32)
    assert found.shape == (20, (300 - 64) // 32 + 1)
    for text, row in zip(TEXTS, found, strict=True):
        for place, value in enumerate(row):
            window = text[32 * place : 32 * place + 64]
            assert value == pytest.approx((window.count("G") + window.count("C")) / (64 - window.count("N")))
    assert np.isnan(gc_fraction(rows("NNN"))).all()


def test_divergence_is_a_bit_between_strangers_and_none_without_words() -> None:
    one, other = kmer_counts(rows("AAAA"), 2), kmer_counts(rows("CCCC"), 2)
    assert divergence(one, one) == 0
    assert divergence(one, other) == pytest.approx(1)
    assert divergence(np.array([3, 1]), np.array([1, 3])) == pytest.approx(
        0.5 * (0.75 * np.log2(1.5) + 0.25 * np.log2(0.5)) + 0.5 * (0.25 * np.log2(0.5) + 0.75 * np.log2(1.5))
    )
    assert divergence(one, np.zeros(16, dtype=np.int64)) is None


def test_cpg_ratio_by_hand() -> None:
    assert cpg_ratio(rows("ACGTCGAA")) == pytest.approx(2 * 8 / (2 * 2))
    assert cpg_ratio(rows("AAAA")) is None


def test_dinucleotides_of_independent_bases_have_odds_of_one() -> None:
    table: dict[str, Any] = dinucleotides(RNG.choice(4, (50, 4000), p=[0.4, 0.1, 0.2, 0.3]).astype(np.uint8))
    assert all(abs(row["rho"] - 1) < 0.05 for row in table.values())
    assert sum(row["frequency"] for row in table.values()) == pytest.approx(1)
    assert dinucleotides(rows("CCCC"))["AC"]["rho"] is None


def test_homopolymers_are_runs_within_a_row() -> None:
    found = homopolymers(ROWS)
    for name, bases in (("AT", "AT"), ("CG", "CG")):
        runs = [len(run) for text in TEXTS for base in bases for run in re.findall(f"{base}+", text)]
        assert found[name] == [runs.count(length) for length in range(1, LONGEST_RUN)] + [
            sum(length >= LONGEST_RUN for length in runs)
        ]
    assert homopolymers(rows("AATTN", "TTTTT"))["AT"][:5] == [0, 2, 0, 0, 1]
    assert homopolymers(rows("G" * 70))["CG"][-1] == 1


def test_strands_that_mirror_each_other_are_symmetric() -> None:
    both = np.concatenate([ROWS, reverse_complement(ROWS)])
    assert strand_symmetry(both) == {"at_skew": 0, "gc_skew": 0, "kmer_jsd": pytest.approx(0, abs=1e-12)}
    lopsided = strand_symmetry(rows("AAAGAAAG"))
    assert (lopsided["at_skew"], lopsided["gc_skew"], lopsided["kmer_jsd"]) == (1, 1, pytest.approx(1))
    assert strand_symmetry(rows("AAAA"))["gc_skew"] is None


def test_a_profile_of_nothing_known_has_no_numbers() -> None:
    empty = profile(rows("NNNN"))
    assert empty["gc"] is None and empty["cpg_ratio"] is None
