"""K-mer numbers against strings, and reverse complements of numbers against those of sequences."""

import numpy as np
import pytest

from dnagoat.counts.kmers import kmer_codes, reverse_complements
from dnagoat.genome.alphabet import encode, reverse_complement


def number(word: str) -> int:
    return sum("ACGT".index(base) * 4**place for place, base in enumerate(reversed(word)))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 13, 20, 31])
def test_numbers_of_all_kmers(k: int) -> None:
    text = "".join(np.random.default_rng(k).choice(list("ACGTN"), 200, p=[0.24, 0.24, 0.24, 0.24, 0.04]))
    numbers, known = kmer_codes(encode(text), k)
    words = [text[i : i + k] for i in range(len(text) - k + 1)]
    assert known.tolist() == ["N" not in word for word in words]
    assert [n for n, ok in zip(numbers.tolist(), known, strict=True) if ok] == [
        number(w) for w in words if "N" not in w
    ]


def test_batches_and_sequences_shorter_than_k() -> None:
    codes = encode("ACGTACGTTTGACA")
    assert np.array_equal(kmer_codes(np.stack([codes, codes]), 5)[0][1], kmer_codes(codes, 5)[0])
    assert kmer_codes(codes, 20)[0].size == 0


def test_reverse_complement_of_numbers() -> None:
    codes = encode("GATTACAGATTTGCGCATA")
    forward, _ = kmer_codes(codes, 7)
    backward, _ = kmer_codes(reverse_complement(codes), 7)
    assert np.array_equal(reverse_complements(forward, 7), backward[::-1])
