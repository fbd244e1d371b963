"""Bases as bits: 32 of them in one 64-bit word, compared and counted at once."""

from __future__ import annotations

import numpy as np

from dnagoat.counts.memory.compiling import Int, compiled

Word = np.uint64
_EVEN, _PAIRS, _NIBBLES = Word(0x5555555555555555), Word(0x3333333333333333), Word(0x0F0F0F0F0F0F0F0F)
_BYTES, _SHORTS, _HALF = Word(0x00FF00FF00FF00FF), Word(0x0000FFFF0000FFFF), Word(0x00000000FFFFFFFF)
_SUM = Word(0x0101010101010101)


@compiled
def ones(x: Word) -> Int:
    """How many bits are set."""
    x = x - ((x >> Word(1)) & _EVEN)
    x = (x & _PAIRS) + ((x >> Word(2)) & _PAIRS)
    x = (x + (x >> Word(4))) & _NIBBLES
    return np.int64((x * _SUM) >> Word(56))


@compiled
def leading_zeros(x: Word) -> Int:
    """How many of the highest bits are 0."""
    if x == Word(0):
        return 64
    count = 0
    for width in (32, 16, 8, 4, 2, 1):
        if (x >> Word(64 - width)) == Word(0):
            count += width
            x = x << Word(width)
    return count


@compiled
def agreements(x: Word, y: Word) -> Word:
    """One bit for each of 32 bases, set where both words have the same: the newest (highest) base is bit 63."""
    x = ~((x ^ y) | ((x ^ y) >> Word(1))) & _EVEN
    x = (x | (x >> Word(1))) & _PAIRS
    x = (x | (x >> Word(2))) & _NIBBLES
    x = (x | (x >> Word(4))) & _BYTES
    x = (x | (x >> Word(8))) & _SHORTS
    x = (x | (x >> Word(16))) & _HALF
    return x << Word(32)


@compiled
def other_strand(x: Word) -> Word:
    """32 bases read on the other strand: complements in the opposite order."""
    x = ~x
    x = ((x >> Word(2)) & _PAIRS) | ((x & _PAIRS) << Word(2))
    x = ((x >> Word(4)) & _NIBBLES) | ((x & _NIBBLES) << Word(4))
    x = ((x >> Word(8)) & _BYTES) | ((x & _BYTES) << Word(8))
    x = ((x >> Word(16)) & _SHORTS) | ((x & _SHORTS) << Word(16))
    return (x >> Word(32)) | (x << Word(32))


@compiled
def scrambled(x: Word) -> Word:
    """Bits that look random (multiplicative hashing by the golden ratio); the high ones are the best."""
    x = x * Word(0x9E3779B97F4A7C15)
    return x ^ (x >> Word(29))
