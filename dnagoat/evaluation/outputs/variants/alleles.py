"""What is compared when a variant is scored: two alleles between the same bases on the left and on the right.

Alleles lose the bases that both have at their ends, and what only was deleted or inserted is widened over all places
where it could have been written: the same change then has the same score, however its record and whichever strand puts
it. `ratios` scores what `compare` gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from dnagoat.errors import OptionError
from dnagoat.genome.alphabet import Codes, N
from dnagoat.genome.read.assembly import ABSENT

AFTER = 64  # bases after an allele that are scored, where nothing else is asked for


class Skipped(IntEnum):
    """Why an allele has no score; the name in lower case is what a file says."""

    NO_ALT = 1
    STAR = 2
    SYMBOLIC = 3
    BREAKEND = 4
    NOT_ACGT = 5
    NO_CHANGE = 6
    UNKNOWN_SEQUENCE = 7
    OUTSIDE = 8
    REF_MISMATCH = 9
    NEAR_N = 10
    NEAR_END = 11
    TOO_LONG = 12

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Frame:
    """How much is read: at most `context` bases at once, of which `after` follow the allele and are scored with it."""

    context: int
    after: int = AFTER

    def __post_init__(self) -> None:
        if self.after < 1:
            raise OptionError(f"--after {self.after}: at least one base after an allele is scored")
        if self.longest < 1:
            raise OptionError(
                f"--context {self.context:,} is too short: it holds --after {self.after:,} bases on each side of an "
                "allele of at least one; give more context or fewer bases after"
            )

    @property
    def longest(self) -> int:
        """Bases of the longest allele that leaves as many bases before it as are scored after it."""
        return self.context - 2 * self.after

    @property
    def margin(self) -> int:
        """Bases on either side of a record's REF that may be read: before an allele that is widened to the longest."""
        return 2 * self.context


@dataclass(frozen=True)
class Change:
    """Two alleles of known bases, with what lies `left` and `right` of both, each at least `after` bases."""

    left: Codes
    ref: Codes
    alt: Codes
    right: Codes


def compare(text: Codes, at: int, ref: Codes, alt: Codes, frame: Frame) -> Change | Skipped:
    """The change that replaces `ref` by `alt` in `text` (codes of the genome), where `ref` begins at index `at`.

    `text` reaches `frame.margin` bases past `ref` on either side, `ABSENT` where the genome ends.
    """
    start, end, alt = _trimmed(at, ref, alt)
    if start == end and not alt.size:
        return Skipped.NO_CHANGE
    if max(end - start, alt.size) > frame.longest:
        return Skipped.TOO_LONG
    if start == end or not alt.size:
        start, end, alt = _widened(text, start, end, alt, frame.longest)
    longest = max(end - start, alt.size)
    if longest > frame.longest:
        return Skipped.TOO_LONG
    before = frame.context - frame.after - longest
    left, right = text[start - before : start], text[end : end + before]
    stop_left, stop_right = left[::-1] >= N, right >= N
    known = [int(stop.argmax()) if stop.any() else before for stop in (stop_left, stop_right)]
    for side, count in zip((left[::-1], right), known, strict=True):
        if count < frame.after:
            return Skipped.NEAR_END if side[count] == ABSENT else Skipped.NEAR_N
    return Change(left[before - known[0] :], text[start:end], alt, right[: known[1]])


def _trimmed(at: int, ref: Codes, alt: Codes) -> tuple[int, int, Codes]:
    """Start and end of the replaced bases and what replaces them, without what both alleles have at either end."""
    most = min(len(ref), len(alt))
    same = np.append(ref[:most] == alt[:most], False)
    head = int(same.argmin())
    most -= head
    same = np.append(ref[len(ref) - most :][::-1] == alt[len(alt) - most :][::-1], False)
    tail = int(same.argmin())
    return at + head, at + len(ref) - tail, alt[head : len(alt) - tail]


def _widened(text: Codes, start: int, end: int, alt: Codes, most: int) -> tuple[int, int, Codes]:
    """The same with all bases along which a deletion or an insertion can be moved, up to `most` of them.

    A unit can move over a base that equals its own first (or last) one, which then stands at its other end.
    """
    unit = text[start:end] if end > start else alt
    size, right, left = len(unit), 0, 0
    while right <= most and text[end + right] == unit[right % size]:
        right += 1
    while left <= most and text[start - 1 - left] == unit[size - 1 - left % size]:
        left += 1
    widened = np.concatenate([text[start - left : start], alt, text[end : end + right]])
    return start - left, end + right, widened
