"""Which number stands for which base, in the token store and in a model.

One byte a base: bits 0-2 are the code (A 0, C 1, G 2, T 3, N 4), bit 3 says soft-masked (lower case in the source).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import SourceError

Codes = NDArray[np.uint8]
Ints = NDArray[np.int64]  # positions, counts

A, C, G, T, N = range(5)
START: Final = 5  # the start symbol: an input, never in the store and never a target
BASES: Final = "ACGTN"
CODE: Final = 0b0111
MASKED: Final = 0b1000
TOKEN: Final = CODE | MASKED

# Flags of TABLE above a token's four bits, in the order of what wins when a letter is judged.
AMBIGUOUS: Final = 0x10  # an IUPAC code other than N, stored as N
URACIL: Final = 0x20  # U, stored as T
GAP: Final = 0x40  # a gap or a stop: no base at all
REFUSED: Final = 0x80  # no nucleotide letter

GAPS: Final = b"-.*"
AMBIGUITY: Final = b"RYSWKMBDHV"  # IUPAC-IUB 1984: two or three bases are possible


def _table() -> bytes:
    table = [REFUSED] * 256
    for letters, value in ((b"A", A), (b"C", C), (b"G", G), (b"T", T), (b"N", N), (b"U", T | URACIL)):
        table[letters[0]] = value
    for letter in AMBIGUITY:
        table[letter] = N | AMBIGUOUS
    for upper in range(ord("A"), ord("Z") + 1):
        table[upper + 32] = table[upper] if table[upper] == REFUSED else table[upper] | MASKED
    for letter in GAPS:
        table[letter] = GAP
    return bytes(table)


TABLE: Final = _table()  # letter -> token with flags: for bytes.translate
_LETTERS: Final = np.frombuffer(b"ACGTNNNNacgtnnnn", dtype=np.uint8)


def encode(sequence: bytes | str) -> Codes:
    """Codes (L,) of a sequence, case ignored: IUPAC codes become N, U becomes T, anything else is a `SourceError`."""
    text = sequence.encode("utf-8") if isinstance(sequence, str) else bytes(sequence)
    tokens = np.frombuffer(text.translate(TABLE), dtype=np.uint8)
    wrong = np.flatnonzero(tokens >= GAP)
    if wrong.size:
        raise SourceError(f"{letter_name(text[wrong[0]])} at position {wrong[0]:,} is not a nucleotide letter")
    return tokens & np.uint8(CODE)


def decode(tokens: Codes, *, case: bool = False) -> str:
    """Letters of tokens (L,); soft-masked ones are lower case where `case`."""
    tokens = np.asarray(tokens, dtype=np.uint8) & np.uint8(TOKEN if case else CODE)
    return _LETTERS[tokens].tobytes().decode("ascii")


def reverse_complement(codes: Codes) -> Codes:
    """The other strand, read 5' to 3': codes (..., L) of the same shape; N stays N."""
    backwards = np.ascontiguousarray(np.asarray(codes)[..., ::-1])
    # A 0, C 1, G 2, T 3: the complement of a base is 3 - code, that is code ^ 3; N and the start symbol stay.
    complement: Codes = backwards ^ ((backwards < N) * np.uint8(3))
    return complement


def letter_name(byte: int) -> str:
    """How a person is told of a byte: the character itself where it can be shown, else its number."""
    return repr(chr(byte)) if 32 < byte < 127 else f"byte 0x{byte:02x}"
