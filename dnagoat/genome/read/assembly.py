"""Which bases does a chromosome hold, whether its genome file has it whole or in pieces, on either strand?"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from dnagoat.genome.alphabet import CODE, Codes, reverse_complement
from dnagoat.genome.read.bed import Interval, Locator
from dnagoat.genome.read.genome import Genome

ABSENT: Final = 7  # the code of a place where the genome has no base: before its start, past its end, between pieces
_BLOCK: Final = 1 << 18  # bases that are read at once and kept: neighbours are asked for next
_KEPT: Final = 8


class Assembly:
    """Bases by the names of sequences and of the chromosomes that these are pieces of; names by the one rule of names.

    Memory is that of a few blocks, whatever is asked.
    """

    def __init__(self, genome: Genome) -> None:
        self.genome = genome
        self._locator = Locator(genome.contigs())
        self.names = self._locator.names
        self._block = lru_cache(_KEPT)(self._read)

    def __str__(self) -> str:
        return str(self.genome.source)

    def find(self, name: str, asker: str) -> str | None:
        """The exact name that `name` means, None of an unknown one; a `SourceError` where its lines are uneven."""
        self.genome.refuse_uneven(name, asker)
        return self.names.find(name)

    def length(self, name: str) -> int | None:
        """Bases of the sequence of that exact name; None of a chromosome of which there are pieces alone."""
        return self._locator.length(name)

    def codes(self, name: str, start: int, end: int) -> Codes:
        """Codes (end - start,) of [start, end) on the + strand of the sequence of that exact name.

        `ABSENT` where the genome has no base; `start` may lie below 0. Not to be written to.
        """
        first, last = start // _BLOCK, (max(end, start + 1) - 1) // _BLOCK
        blocks = [self._block(name, number) for number in range(first, last + 1)]
        whole = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return whole[start - first * _BLOCK : end - first * _BLOCK]

    def _read(self, name: str, number: int) -> Codes:
        start, end = number * _BLOCK, (number + 1) * _BLOCK
        found = np.full(_BLOCK, ABSENT, dtype=np.uint8)
        for contig, first, last, _, strand in self._locator.stretches(name, Interval(name, start, end, None, 0)):
            codes = self.genome.bases(contig.name, first, last).tokens & np.uint8(CODE)
            begin = first if contig.name == name else contig.to_home(first, last)[0]
            found[begin - start : begin - start + last - first] = codes if strand == "+" else reverse_complement(codes)
        found.setflags(write=False)
        return found
