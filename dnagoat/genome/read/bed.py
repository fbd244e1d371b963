"""Which intervals does a BED file hold, and where do they lie on the contigs that are here?

BED: name, start, end, then columns that depend (https://genome.ucsc.edu/FAQ/FAQformat.html); 0-based and half-open.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from dnagoat.errors import SourceError
from dnagoat.genome.dataset import Contig
from dnagoat.genome.place import Names, Strand
from dnagoat.genome.read.source import Source, refuse_other, text_rows
from dnagoat.streams import is_stream
from dnagoat.wording import counted

_NOT_INTERVALS: Final = re.compile(r"(#|track|browser)(\s|$)|#")
_HEADINGS: Final = (re.compile(r".*(start|begin|from)", re.IGNORECASE), re.compile(r".*(end|stop|to)", re.IGNORECASE))


class Interval(NamedTuple):
    """[start, end) of a sequence, and the line of the file that says so.

    `strand` and `label` (the interval's own name) as written, None without column 6 and 4; `fields` are all columns.
    """

    name: str
    start: int
    end: int
    strand: str | None
    line: int
    label: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bed:
    """The intervals of a BED file in its order. `sha256` is that of the file as it lies there."""

    name: str
    sha256: str
    intervals: tuple[Interval, ...]

    @property
    def title(self) -> str:
        """The file's name without its folder."""
        return Path(self.name).name

    def where(self, interval: Interval) -> str:
        return f"{self.name}, line {interval.line:,}"

    def strand_of(self, interval: Interval) -> Strand:
        """The strand that column 6 gives; + where it gives none."""
        strand: dict[str | None, Strand] = {None: "+", ".": "+", "+": "+", "-": "-"}
        if interval.strand not in strand:
            raise SourceError(f"{self.where(interval)}: strand {interval.strand!r} is none; give +, - or .")
        return strand[interval.strand]

    def column(self, number: int) -> list[str]:
        """What column `number`, counted from 1, says of each interval; a `SourceError` names the first line without."""
        for interval in self.intervals:
            if not 1 <= number <= len(interval.fields):
                raise SourceError(
                    f"{self.where(interval)} has {counted(len(interval.fields), 'column')} and no column {number}; "
                    "columns are counted from 1"
                )
        return [interval.fields[number - 1] for interval in self.intervals]


def read_bed(path: Path) -> Bed:
    """The intervals of a BED file, plain or gzip, or of a stream.

    A `SourceError` names the first line that is none: too few columns, what is no whole number, no base within.
    """
    return _read_stream(path) if is_stream(path) else _read(path)


def bed_sha256(path: Path) -> str:
    """What is in a BED file: an edited one is another, a moved one is not."""
    return read_bed(path).sha256


@cache
def _read_stream(path: Path) -> Bed:
    """A stream can be read once only, and who asks again is told the same."""
    return _read(path)


def _read(path: Path) -> Bed:
    source = Source(path)
    content = b"".join(source.blocks())
    return Bed(str(source), source.sha256, tuple(_intervals(str(source), content)))


def _intervals(name: str, content: bytes) -> Iterator[Interval]:
    refuse_other(Path(name), content, "BED")
    first, any_interval = True, False
    for number, line, fields in text_rows(content):
        if _NOT_INTERVALS.match(line):
            continue
        if not (first and _is_heading(fields)):
            yield _interval(name, fields, number)
            any_interval = True
        first = False
    if not any_interval:
        raise SourceError(f"{name} holds no interval; give lines of a sequence, a start and an end")


def _is_heading(fields: list[str]) -> bool:
    """Whether a first line names its columns, as tables do that were made from a data frame."""
    return len(fields) > 2 and all(
        heading.fullmatch(field) for heading, field in zip(_HEADINGS, fields[1:3], strict=True)
    )


def _interval(name: str, fields: list[str], line: int) -> Interval:
    if len(fields) < 3 or not fields[0]:
        raise SourceError(f"{name}, line {line:,} is not BED: it needs a sequence, a start and an end")
    if not (_is_number(fields[1]) and _is_number(fields[2])):
        field = fields[2] if _is_number(fields[1]) else fields[1]
        negative = field.startswith("-") and _is_number(field[1:])
        fault = "lies before the sequence's first base, which is 0" if negative else "is no whole number"
        raise SourceError(f"{name}, line {line:,} is not BED: {field[:40]!r} {fault}")
    start, end = int(fields[1]), int(fields[2])
    if start >= end:
        fault = "holds no base" if start == end else "ends before it begins"
        raise SourceError(
            f"{name}, line {line:,}: {start:,}-{end:,} {fault}; BED is half-open, so an end is above its start"
        )
    strand, label = (fields[column] if len(fields) > column else None for column in (5, 3))
    return Interval(fields[0], start, end, strand, line, label, tuple(fields))


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii()


class Stretch(NamedTuple):
    """[start, end) of a contig, in its own coordinates, that an interval names; its + is the contig's strand `plus`."""

    contig: Contig
    start: int
    end: int
    interval: Interval
    plus: Strand


@dataclass(frozen=True)
class Located:
    """Where the intervals of a BED file lie on contigs, in the order of the file."""

    bed: Bed
    stretches: list[Stretch]
    unknown: Counter[str]
    outside: list[Interval]
    notes: list[str]


def locate(bed: Bed, contigs: Sequence[Contig], holder: str) -> Located:
    """Where the intervals lie on contigs, called by their own names or by the chromosomes that they are pieces of.

    In `stretches` an interval is cut to what is there; one that is `unknown` by name, or that has bases `outside` of
    all pieces of its chromosome, is told. A `SourceError` says where one runs past the end of its sequence: its file
    belongs to another assembly than `holder`.
    """
    locator = Locator(contigs)
    meant = {name: locator.names.find(name) for name in dict.fromkeys(interval.name for interval in bed.intervals)}
    stretches: list[Stretch] = []
    unknown: Counter[str] = Counter()
    outside: list[Interval] = []
    for interval in bed.intervals:
        name = meant[interval.name]
        if name is None:
            unknown[interval.name] += 1
            continue
        refuse_past_end(bed, interval, locator.length(name), holder)
        found = locator.stretches(name, interval)
        stretches += found
        if sum(stretch.end - stretch.start for stretch in found) < interval.end - interval.start:
            outside.append(interval)
    return Located(bed, stretches, unknown, outside, [f"{bed.name}: {note}" for note in locator.names.notes(meant)])


def refuse_past_end(bed: Bed, interval: Interval, length: int | None, holder: str) -> None:
    """A `SourceError` where an interval runs past the end of its sequence, whose length may be unknown."""
    if length is not None and interval.end > length:
        raise SourceError(
            f"{bed.where(interval)}: {interval.name} of {holder} ends at {length:,}, before "
            f"{interval.end:,}; give intervals of the same assembly"
        )


class Locator:
    """Finds places on contigs, which go by their own names and by those of the chromosomes that they are pieces of."""

    def __init__(self, contigs: Sequence[Contig]) -> None:
        self._called: dict[str, _Called] = defaultdict(_Called)
        for contig in contigs:
            self._called[contig.name].add(contig, home=False)
            if contig.home != contig.name:
                self._called[contig.home].add(contig, home=True)
        self.names = Names(self._called, {contig.genome for contig in contigs if contig.genome})

    def length(self, name: str) -> int | None:
        """Bases of the sequence of that exact name, where they are known."""
        return self._called[name].length

    def stretches(self, name: str, interval: Interval) -> list[Stretch]:
        """What an interval of the sequence of that exact name holds of each contig."""
        return self._called[name].stretches(interval)


class _Called:
    """The contigs that one name means: the contig of that name, and the pieces of the chromosome of that name."""

    def __init__(self) -> None:
        self.length: int | None = None  # of the sequence, where it is known
        self._pieces: list[tuple[int, int, Contig, bool]] = []  # start, end, and whether on the contig's home
        self._longest = 0
        self._sorted = True

    def add(self, contig: Contig, *, home: bool) -> None:
        start, end = contig.to_home(0, contig.length) if home else (0, contig.length)
        length = contig.home_length if home else contig.length
        self.length = length if self.length is None else min(self.length, length or self.length)
        self._longest = max(self._longest, contig.length)
        self._pieces.append((start, end, contig, home))
        self._sorted = False

    def stretches(self, interval: Interval) -> list[Stretch]:
        """What the interval holds of each contig."""
        if not self._sorted:
            self._pieces.sort(key=_start)
            self._sorted = True
        found = []
        for place in range(bisect_right(self._pieces, interval.start - self._longest, key=_start), len(self._pieces)):
            start, end, contig, home = self._pieces[place]
            if start >= interval.end:
                break
            if end > interval.start:
                span = max(start, interval.start), min(end, interval.end)
                first, last = contig.from_home(*span) if home else span
                found.append(Stretch(contig, first, last, interval, contig.strand if home else "+"))
        return found


def _start(piece: tuple[int, int, Contig, bool]) -> int:
    return piece[0]


def locate_whole(bed: Bed, contigs: Sequence[Contig], holder: str) -> Located:
    """As `locate`, for intervals that are all asked for: a `SourceError` where one is not wholly in one contig."""
    located = locate(bed, contigs, holder)
    if unknown := unknown_names(located, holder):
        some = ", ".join(contig.name[:40] for contig in contigs[:5])
        more = f" and {len(contigs) - 5:,} more" if len(contigs) > 5 else ""
        raise SourceError(f"{unknown}; it has {some}{more}")
    whole: dict[Interval, Stretch] = {}
    for stretch in located.stretches:
        if stretch.end - stretch.start == stretch.interval.end - stretch.interval.start:
            whole.setdefault(stretch.interval, stretch)
    for interval in bed.intervals:
        if interval not in whole:
            raise SourceError(
                f"{bed.where(interval)}: {interval.name}:{interval.start:,}-{interval.end:,} does not lie within one "
                f"of the pieces of {interval.name} that {holder} has"
            )
    return replace(located, stretches=[whole[interval] for interval in bed.intervals])


def unknown_names(located: Located, holder: str) -> str | None:
    """How many lines name sequences that are not here, and which; None where all are."""
    if not located.unknown:
        return None
    some = ", ".join(f"{name[:40]} {count:,}" for name, count in located.unknown.most_common(3))
    more = f" and {len(located.unknown) - 3:,} more" if len(located.unknown) > 3 else ""
    count, whole = located.unknown.total(), counted(len(located.bed.intervals), "line")
    return f"{located.bed.name}: {count:,} of {whole} about sequences that {holder} has not ({some}{more})"
