"""What is compared when a variant is scored: two alleles between the same bases on the left and on the right.

    LLR = log p(alt, after | before) - log p(ref, after | before)      in nats; docs/variants.md

Both strands are read: `before` lies on the left for the + strand and on the right for the - strand. Alleles lose the
bases that both have at their ends, and what only was deleted or inserted is widened over all places where it could
have been written: the same change then has the same score, however its record and whichever strand puts it.
"""

# n changes; L bases that are read at once, the alleles and what follows among them

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dnagoat.errors import OptionError
from dnagoat.evaluation.scoring.branches import Stem, score_branches
from dnagoat.genome.alphabet import Codes, N, reverse_complement
from dnagoat.genome.read.assembly import ABSENT
from dnagoat.model.transformer import DnaLM

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


def score_changes(model: DnaLM, changes: Sequence[Change], frame: Frame, batch_bases: int) -> NDArray[np.float64]:
    """Log-likelihood ratios (n, 2), in nats, on the + and on the - strand.

    What alleles of one place have in common is read once for all of them; both strands pass through the model together.
    """
    places: dict[tuple[bytes, bytes, bytes], list[int]] = defaultdict(list)
    for number, change in enumerate(changes):
        places[change.left.tobytes(), change.ref.tobytes(), change.right.tobytes()].append(number)
    stems = [stem for numbers in places.values() for stem in _stems([changes[n] for n in numbers], frame.after)]
    scores = score_branches(model, stems, batch_bases)
    ratios = np.empty((len(changes), 2))
    for place, numbers in enumerate(places.values()):
        for strand in (0, 1):
            nats = scores[2 * place + strand]
            ratios[numbers, strand] = nats[1:] - nats[0]
    return ratios


def _stems(changes: Sequence[Change], after: int) -> tuple[Stem, Stem]:
    """REF and each ALT of one place, read on the + and on the - strand."""
    first = changes[0]
    alleles = [first.ref, *(change.alt for change in changes)]
    forward = tuple(np.concatenate([allele, first.right[:after]]) for allele in alleles)
    reverse = tuple(reverse_complement(np.concatenate([first.left[-after:], allele])) for allele in alleles)
    return Stem(first.left, forward), Stem(reverse_complement(first.right), reverse)
