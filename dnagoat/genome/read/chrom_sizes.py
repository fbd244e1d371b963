"""How long are the sequences of an assembly, by UCSC's chrom.sizes or samtools' .fai: a name and a length a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dnagoat.errors import SourceError
from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import Names
from dnagoat.genome.read.source import Source, refuse_other, text_rows


@dataclass(frozen=True)
class Sizes:
    """Bases of each sequence of an assembly; `name` is what a sentence calls the file."""

    name: str = ""
    lengths: dict[str, int] = field(default_factory=dict)

    def of(self, contigs: Sequence[Contig], holder: str) -> tuple[dict[str, int], list[str]]:
        """Bases of each sequence that the contigs lie on, and the names of those of which nothing tells the length.

        What is given for one of these is the end of its last piece. A `SourceError` where a length is not that of the
        contigs that `holder` has.
        """
        ends: dict[str, int] = {}
        whole: dict[str, int] = {}
        for contig in contigs:
            ends[contig.home] = max(ends.get(contig.home, 0), contig.to_home(0, contig.length)[1])
            if contig.home_length is not None:
                whole[contig.home] = contig.home_length
        names = Names(self.lengths)
        for home, end in ends.items():
            if (known := names.find(home)) is not None:
                self._refuse_other(home, self.lengths[known], end, whole.get(home), holder)
                whole[home] = self.lengths[known]
        return {**ends, **whole}, [home for home in ends if home not in whole]

    def _refuse_other(self, home: str, length: int, end: int, whole: int | None, holder: str) -> None:
        if length < end or length != (whole or length):
            here = f"{whole:,} bases" if whole else f"a base {end:,}"
            raise SourceError(
                f"{home[:80]} has {length:,} bases in {self.name} and {here} in {holder}; give those of its assembly"
            )


def read_sizes(path: Path) -> Sizes:
    """The lengths that a file gives, plain or gzip, or a stream; columns after the second are not read.

    A `SourceError` names the first line that gives none, or another one for the same name.
    """
    source = Source(path)
    content = b"".join(source.blocks())
    refuse_other(Path(str(source)), content, "a list of lengths")
    lengths: dict[str, int] = {}
    for number, line, fields in text_rows(content):
        if line.startswith("#"):
            continue
        name, length = [*fields, ""][:2]
        if not name or not (length.isascii() and length.isdecimal() and int(length)):
            raise SourceError(f"{source}, line {number:,} gives no length: it needs a name and a number of bases")
        if lengths.setdefault(name, int(length)) != int(length):
            raise SourceError(f"{source}, line {number:,}: {name[:80]} has two lengths; give it one")
    if not lengths:
        raise SourceError(f"{source} holds no length; give lines of a name and a number of bases")
    return Sizes(str(source), lengths)
