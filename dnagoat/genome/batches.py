"""Which bases does a training sample hold? A pure function of the seed and the sample's number, so a run can resume.

B batch, W window width in bases.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.genome.alphabet import CODE, START, Codes, Ints, N
from dnagoat.genome.mixing import mix

IGNORE: Final = -100  # the target that no loss counts (PyTorch's default ignore_index)


class Samples(NamedTuple):
    """For each of B training samples: which window, whether its other strand, and by how many bases it is shifted."""

    windows: Ints
    reverse_complement: NDArray[np.bool_]
    shifts: Ints


def order(count: int, seed: int, epoch: int) -> Ints:
    """A permutation of range(count): every window once an epoch, in an order that (seed, epoch) decides."""
    return np.array(_order(count, seed, epoch))


@lru_cache(maxsize=4)
def _order(count: int, seed: int, epoch: int) -> Ints:
    key = _hash(seed, np.array([epoch]), "order")
    permutation = np.argsort(mix(np.arange(count, dtype=np.uint64) + key), kind="stable")
    permutation.setflags(write=False)
    return permutation


def sample(seed: int, index: Ints, count: int, jitter: int = 0) -> Samples:
    """Training samples number `index` (B,) of a split of `count` windows.

    Epoch index // count takes its (index % count)-th window in that epoch's order. Strand and shift (uniform in
    [-jitter, jitter]) depend on (seed, index) alone, so that arms of a comparison see the same bases.
    """
    index = np.atleast_1d(np.asarray(index, dtype=np.int64))
    epochs, places = np.divmod(index, count)
    windows = np.empty_like(index)
    for epoch in np.unique(epochs):
        here = epochs == epoch
        windows[here] = _order(count, seed, int(epoch))[places[here]]
    flips = (_hash(seed, index, "strand") >> np.uint64(63)).astype(bool)
    shifts = (_hash(seed, index, "shift") % np.uint64(2 * jitter + 1)).astype(np.int64) - jitter
    return Samples(windows, flips, shifts)


def shifted(starts: Ints, shifts: Ints, room: Ints) -> Ints:
    """Window starts (B,) moved by `shifts` (B,), kept within `room` (B, 2): the lowest and highest start allowed."""
    moved: Ints = np.clip(starts + shifts, room[:, 0], room[:, 1])
    return moved


def gather(tokens: Codes, starts: Ints, width: int) -> Codes:
    """Codes (B, W) of the windows that begin at absolute positions `starts` (B,)."""
    return np.lib.stride_tricks.sliding_window_view(tokens, width)[np.asarray(starts)] & np.uint8(CODE)


def to_inputs_targets(codes: Codes, *, score_n: bool = False) -> tuple[Ints, Ints]:
    """What a model is fed and what it must say, from codes (B, W).

    All W bases are scored, the first without context: inputs (B, W) = [START, codes[:-1]], targets (B, W) with
    N as IGNORE. With `score_n` it is the GOAT authors' protocol (arXiv 2601.15380): no start symbol, inputs and
    targets (B, W - 1), N scored as a fifth class.
    """
    symbols = codes.astype(np.int64)
    if score_n:
        return symbols[:, :-1], symbols[:, 1:]
    inputs = np.empty_like(symbols)
    inputs[:, 0] = START
    inputs[:, 1:] = codes[:, :-1]
    if (unknown := codes == N).any():  # most batches hold no N, and looking for it is cheaper than writing
        symbols[unknown] = IGNORE
    return inputs, symbols


def _hash(seed: int, index: Ints, purpose: str) -> NDArray[np.uint64]:
    """64 random-looking bits of (seed, purpose, index)."""
    key = mix(np.array([seed], dtype=np.uint64) + np.uint64(int.from_bytes(purpose.encode(), "little")))
    return mix(mix(np.asarray(index).astype(np.uint64)) ^ key)
