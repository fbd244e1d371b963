"""Where does each window lie, to which split does it belong, and what is in it?

A span is a stretch of one contig that belongs to one split; windows tile spans, so none crosses a contig or a split.
Positions are 0-based and half-open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import DatasetError, WindowError
from dnagoat.genome.alphabet import CODE, MASKED, C, Codes, G, N
from dnagoat.wording import counted

Split = Literal["train", "val", "test"]
SPLITS: Final[tuple[Split, ...]] = ("train", "val", "test")
HELD_OUT: Final[tuple[Split, ...]] = ("val", "test")
# A genome that is split by blocks: ten blocks a round, one of them for validation and one for test.
_ROUND: Final = 10
_ROUNDS: Final = 2
SHARED: Final = 20  # stretches of a contig that is validation and test in turn
_HELD_OUT: Final[dict[int, Split]] = {4: "val", 9: "test"}


class Span(NamedTuple):
    """[start, end) of a contig, all of one split."""

    start: int
    end: int
    split: Split


def by_contig(
    names: Sequence[str], lengths: Sequence[int], val: Sequence[str], test: Sequence[str], guard: int = 0
) -> list[list[Span]]:
    """Whole contigs: those named are validation or test, the others train.

    A contig that is named for both is divided into SHARED equal stretches, validation and test in turn, `guard` bases
    apart.
    """
    for option, named in (("--val", val), ("--test", test)):
        for name in named:
            if name not in names:
                raise DatasetError(f"{option} {name}: no contig of that name; there are {_some(names)}")
    split: dict[str, Split] = {**dict.fromkeys(val, "val"), **dict.fromkeys(test, "test")}
    both = set(val) & set(test)
    return [
        _shared(name, length, guard) if name in both else [Span(0, length, split.get(name, "train"))]
        for name, length in zip(names, lengths, strict=True)
    ]


def _shared(name: str, length: int, guard: int) -> list[Span]:
    """[0, length) as validation and test in turn; each stretch but the last gives up its last `guard` bases."""
    if length < SHARED * (guard + 1):
        raise WindowError(
            f"contig {name} has {counted(length, 'base')}, too few for {SHARED} guarded stretches of validation and "
            "test; name it in one of --val and --test"
        )
    edges = [length * place // SHARED for place in range(SHARED + 1)]
    ends = [*(edge - guard for edge in edges[1:-1]), length]
    turns: tuple[Split, Split] = ("val", "test")
    return [Span(start, end, turns[place % 2]) for place, (start, end) in enumerate(zip(edges, ends, strict=False))]


def block_ranks(known: int, guard: int) -> NDArray[np.int64]:
    """How many of the `known` bases come before each edge of the blocks, (blocks + 1,): as many in every block.

    Blocks go twice over; a genome too small for blocks of `guard` known bases goes once over, or is one block.
    """
    blocks = next((r * _ROUND for r in range(_ROUNDS, 0, -1) if known >= r * _ROUND * guard), 1)
    return np.array([known * block // blocks for block in range(blocks + 1)], dtype=np.int64)


def by_blocks(lengths: Sequence[int], edges: NDArray[np.int64], guard: int) -> list[list[Span]]:
    """Blocks of the contigs laid end to end, in turn 4 train, 1 validation, 4 train, 1 test; one block is training.

    `edges` (blocks + 1,) are positions in all contigs together, from 0 to their end. Train gives up `guard` bases
    wherever it touches a held-out block of the same contig.
    """
    blocks = len(edges) - 1
    spans: list[list[Span]] = []
    first = 0
    for length in lengths:
        last = first + length
        here = []
        for block in range(int(np.searchsorted(edges, first, side="right")) - 1, blocks):
            start, end = max(int(edges[block]), first), min(int(edges[block + 1]), last)
            if start >= end:
                break
            here.append(Span(start - first, end - first, _HELD_OUT.get(block % _ROUND, "train")))
        spans.append(_guarded(_merged(here), guard))
        first = last
    return spans


def _merged(spans: list[Span]) -> list[Span]:
    """Neighbours of one split are one span."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].split == span.split:
            merged[-1] = merged[-1]._replace(end=span.end)
        else:
            merged.append(span)
    return merged


def _guarded(spans: list[Span], guard: int) -> list[Span]:
    kept = []
    for place, span in enumerate(spans):
        if span.split == "train":
            start = span.start + (guard if place > 0 else 0)
            end = span.end - (guard if place + 1 < len(spans) else 0)
            if start >= end:
                continue
            span = Span(start, end, "train")
        kept.append(span)
    return kept


def tile(span: Span, window: int, stride: int) -> NDArray[np.int64]:
    """Starts of the whole windows of a span; what is left at its end is no window."""
    return np.arange(span.start, span.end - window + 1, stride, dtype=np.int64)


class Shares(NamedTuple):
    """Of each window, in bases: G or C, N, soft-masked (int64 each)."""

    gc: NDArray[np.int64]
    n: NDArray[np.int64]
    masked: NDArray[np.int64]


def count_in_windows(tokens: Codes, starts: NDArray[np.int64], window: int) -> Shares:
    """Counts in the windows that begin at `starts` (ascending) of `tokens`."""
    codes = tokens & np.uint8(CODE)
    flags = ((codes == C) | (codes == G), codes == N, tokens >= MASKED)
    steps = np.unique(np.diff(starts))
    if steps.size > 1:
        return Shares(*(_by_prefix(flag, starts, window) for flag in flags))
    # Equally spaced: sums over pieces of the greatest common divisor, ten times as fast.
    piece = math.gcd(window, *steps.tolist())
    return Shares(*(_by_pieces(flag, starts, window, piece) for flag in flags))


def _by_prefix(flags: NDArray[Any], starts: NDArray[np.int64], window: int) -> NDArray[np.int64]:
    before = np.zeros(flags.size + 1, dtype=np.int64)
    np.cumsum(flags, out=before[1:])
    sums: NDArray[np.int64] = before[starts + window] - before[starts]
    return sums


def _by_pieces(flags: NDArray[np.bool_], starts: NDArray[np.int64], window: int, piece: int) -> NDArray[np.int64]:
    if not starts.size:
        return np.zeros(0, dtype=np.int64)
    first = int(starts[0])
    small = np.uint16 if piece < 1 << 16 else np.int64  # a narrow sum is several times faster
    pieces = flags[first : int(starts[-1]) + window].view(np.uint8).reshape(-1, piece).sum(axis=1, dtype=small)
    return _by_prefix(pieces, (starts - first) // piece, window // piece)


def _some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"
