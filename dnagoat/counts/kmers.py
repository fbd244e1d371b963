"""What number each k-mer of a sequence has: base-4 codes, most significant base first, found by doubling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# ... any leading axes (windows of a batch), W bases in a row

Codes = NDArray[np.uint8]
Kmers = NDArray[np.int64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing by the golden ratio


def kmer_codes(codes: Codes, k: int) -> tuple[Kmers, NDArray[np.bool_]]:
    """The number of each k-mer of codes (..., W), and whether it is free of N: both (..., W - k + 1).

    A 0, C 1, G 2, T 3, so that order of numbers is order of the alphabet; k is at most 31. The number of a k-mer that
    holds anything else means nothing.
    """
    known = codes < 4
    numbers = np.where(known, codes, 0).astype(np.int64)
    return _joined(numbers, k), ~_any(~known, k)


def _joined(numbers: Kmers, k: int) -> Kmers:
    if k == 1:
        return numbers
    left, right = k - k // 2, k // 2
    first = _joined(numbers, left)
    second = first if left == right else _joined(numbers, right)
    width = numbers.shape[-1] - k + 1
    return (first[..., :width] << (2 * right)) | second[..., left : left + width]


def _any(flags: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Whether any of k flags in a row is set, (..., W - k + 1)."""
    if not flags.any():
        return np.zeros((*flags.shape[:-1], max(flags.shape[-1] - k + 1, 0)), dtype=bool)
    sums = np.cumsum(flags, axis=-1, dtype=np.int64)
    sums = np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)
    return np.asarray(sums[..., k:] > sums[..., :-k])


def reverse_complements(kmers: Kmers, k: int) -> Kmers:
    """The numbers of the reverse complements of k-mers: digits complemented (3 - base) and read backwards."""
    rest, flipped = (4**k - 1) - kmers, np.zeros_like(kmers)
    for _ in range(k):
        flipped = (flipped << 2) | (rest & 3)
        rest = rest >> 2
    return flipped
