"""How are stretches of a genome read: both strands, with what lies before them, in parts that fit into memory?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from dnagoat.genome.alphabet import CODE, Codes, reverse_complement
from dnagoat.genome.read.bed import Stretch
from dnagoat.genome.read.genome import Genome

if TYPE_CHECKING:
    from dnagoat.model.transformer import DnaLM

AT_ONCE = 1 << 22  # bases that are held together

Item = TypeVar("Item")


def context_and_stride(model: DnaLM, context: int | None, stride: int | None) -> tuple[int, int]:
    """Bases of a piece, and by how many pieces move: what is not given is the training length, and half of that."""
    context = context or model.config.context
    return context, stride or max(context // 2, 1)


class Reading(NamedTuple):
    """Bases [start, end) of a strand of a stretch, counted along that strand, with `room` bases before them."""

    region: int
    turned: bool
    start: int
    end: int
    room: int

    @property
    def size(self) -> int:
        return self.end - self.start


def readings_of(region: int, stretch: Stretch, context: int, stride: int) -> Iterator[Reading]:
    """Both strands of a region, in parts that are held one after the other; the pieces are those of the whole."""
    length = stretch.end - stretch.start
    for turned, there in ((False, stretch.start), (True, stretch.contig.length - stretch.end)):
        for start, end, room in cuts(length, min(context - stride, there), context, stride):
            yield Reading(region, turned, start, end, room)


def cuts(length: int, room: int, context: int, stride: int) -> Iterator[tuple[int, int, int]]:
    """[start, end) of the parts of `length` bases, and how many bases before each are read: `room` before the first."""
    part = -(-AT_ONCE // stride) * stride
    # A cut lies where a piece ends, and leaves a whole stride for the next one.
    inner = range(context - room + part, length - stride + 1, part)
    for start, end in pairwise([0, *inner, length]):
        yield start, end, context - stride if start else room


def hold(items: Iterable[Item], size: Callable[[Item], int], most: int | None = None) -> Iterator[list[Item]]:
    """Items of a size of about AT_ONCE together, or of `most` where that is less."""
    most = AT_ONCE if most is None else min(AT_ONCE, most)
    held, weight = list[Item](), 0
    for item in items:
        held.append(item)
        weight += size(item)
        if weight >= most:
            yield held
            held, weight = [], 0
    if held:
        yield held


def span_of(stretch: Stretch, reading: Reading, room: int = 0) -> tuple[int, int]:
    """Where the bases of a reading, and those of `room` before them, lie on the + strand of the contig."""
    if reading.turned:
        return stretch.end - reading.end, stretch.end - reading.start + room
    return stretch.start + reading.start - room, stretch.start + reading.end


def codes_of(genome: Genome, stretch: Stretch, reading: Reading) -> Codes:
    """What is read, the bases before among it, in the direction of reading."""
    codes = genome.bases(stretch.contig.name, *span_of(stretch, reading, reading.room)).tokens & np.uint8(CODE)
    return reverse_complement(codes) if reading.turned else codes
