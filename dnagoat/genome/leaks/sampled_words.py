"""Which 32-mers does a stretch of tokens hold? Exact, strand-neutral, and a fixed sample of them.

A 32-mer is 64 bits, so a number is the k-mer itself and not a hash that may collide. The sample keeps a k-mer by its
own mixed value alone (FracMinHash, Irber et al. 2022, doi:10.1101/2022.01.11.475838): the same k-mers on both sides of
a comparison, whatever stands around them, so that the shared part of a sample estimates the shared part of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.genome.alphabet import CODE, MASKED, Codes, N
from dnagoat.genome.mixing import mix

K: Final = 32


class Kmers(NamedTuple):
    """Sampled 32-mers in order of position, one row each."""

    values: NDArray[np.uint64]  # the canonical 32-mer, mixed: equal values are equal 32-mers
    starts: NDArray[np.int64]
    forward: NDArray[np.bool_]  # whether the canonical strand is this one
    unique: NDArray[np.bool_]  # whether no base of it is soft-masked

    def where(self, chosen: NDArray[np.bool_] | slice) -> Kmers:
        """Those rows alone."""
        return Kmers(self.values[chosen], self.starts[chosen], self.forward[chosen], self.unique[chosen])

    @staticmethod
    def joined(pieces: Sequence[Kmers]) -> Kmers:
        """One after the other."""
        if not pieces:
            none = np.zeros(0, dtype=np.uint64)
            return Kmers(none, none.astype(np.int64), none.astype(bool), none.astype(bool))
        values, starts, forward, unique = zip(*pieces, strict=True)
        return Kmers(np.concatenate(values), np.concatenate(starts), np.concatenate(forward), np.concatenate(unique))


def sampled_kmers(tokens: Codes, one_in: int) -> Kmers:
    """One in `one_in` of the k-mers of `tokens` (L,) that hold no N; starts are positions in `tokens`."""
    if len(tokens) < K:
        return Kmers.joined([])
    codes = tokens & np.uint8(CODE)
    bases = codes & np.uint8(3)  # N becomes A here and is left out below
    here, there = _packed(bases), _packed(np.uint8(3) - bases, reverse=True)
    values = mix(np.minimum(here, there))
    keep = values <= np.uint64((1 << 64) // one_in - 1)
    keep &= ~_any_within(codes == N)
    starts = np.flatnonzero(keep)
    return Kmers(values[starts], starts, (here <= there)[starts], ~_any_within(tokens >= MASKED)[starts])


def _packed(bases: Codes, *, reverse: bool = False) -> NDArray[np.uint64]:
    """The k-mer at each position (L - K + 1,) as a number of two bits a base, built by doubling its length."""
    packed: NDArray[Any] = bases
    length = 1
    for dtype in (np.uint8, np.uint8, np.uint16, np.uint32, np.uint64):  # the narrowest that holds it
        left, right = packed[:-length].astype(dtype), packed[length:].astype(dtype)
        high, low = (right, left) if reverse else (left, right)
        packed = np.bitwise_or(np.left_shift(high, 2 * length, dtype=dtype), low)
        length *= 2
    return packed


def _any_within(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether any of the K flags from each position on is set, (L - K + 1,)."""
    length = 1
    while length < K:
        flags = flags[:-length] | flags[length:]
        length *= 2
    return flags
