"""Where on a chromosome does a record lie? What its header says, believed where its length agrees.

samtools writes 1-based, closed regions, bedtools 0-based, half-open ones; `chr1:2000-4000` is the first with 2,001
bases and the second with 2,000. What is given back is 0-based and half-open, as everything here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

Strand = Literal["+", "-"]
OverlapRule = Literal["refuse", "trim"]

# chr21_100_200: 0-based, half-open. chr1:101-200: samtools (with commas, an open end, or /rc, as it was asked for) or
# bedtools getfasta (NAME::chr1:100-200, with the strand in brackets). c200-101: NCBI's complement.
_PIECE: Final = re.compile(
    r"(?P<label>.*::)?(?P<chromosome>.+)"
    r"(?:_(?P<from>\d+)_(?P<to>\d+)|:(?P<complement>c)?(?P<first>[\d,]*)(?P<to_end>-(?P<last>[\d,]*))?)"
    r"(?P<strand>/rc|\([-+.]\))?"
)
# hg38_dna range=chr1:101-200 5'pad=0 3'pad=0 strand=- (the UCSC browser); chromosome:GRCh38:1:101:200:-1 (Ensembl).
_UCSC: Final = re.compile(r"\brange=(?P<chromosome>\S+):(?P<first>\d+)-(?P<last>\d+)\b.*?\bstrand=(?P<strand>[-+])")
_ENSEMBL: Final = re.compile(
    r"\b(?:chromosome|primary_assembly|scaffold):[^:\s]+:(?P<chromosome>[^:\s]+):(?P<first>\d+):(?P<last>\d+):(?P<strand>-?1)\b"
)
_CHROMOSOME: Final = re.compile(
    r"(chr)?([0-9]{1,2}[ABLR]?|[XYZWM]|XL|XR|MT|[IVX]{1,5})|(CM|NC_|CP|NZ_CP)[0-9]{6}(\.[0-9]+)?", re.IGNORECASE
)


class Place(NamedTuple):
    """[start, start + length) of a chromosome, read from one of its strands."""

    chromosome: str
    start: int
    strand: Strand = "+"


def is_chromosome(name: str) -> bool:
    """Whether a sequence is called as chromosomes are: chr7, 7, X, MT, IV, 2L, CM000663.2, NC_000001.11."""
    return _CHROMOSOME.fullmatch(name) is not None


def find_place(name: str, length: int, description: str = "") -> Place | None:
    """Which part of which chromosome a record of `length` bases is; None where its header does not say.

    A piece of a piece is found again in the whole: chr21_100_200_10_20 is chr21 from 110.
    """
    match = _PIECE.fullmatch(name)
    start = None if match is None else _start(match, length)
    if match is not None and start is not None:
        half_open = match["from"] is None and _number(match["first"]) == start
        return _outer(match["chromosome"], start, length, _strand(match), half_open)
    for pattern in (_UCSC, _ENSEMBL):
        said = pattern.search(f"{name} {description}")
        if said and int(said["last"]) - int(said["first"]) + 1 == length and said["chromosome"] != name:
            return Place(said["chromosome"], int(said["first"]) - 1, "-" if said["strand"].startswith("-") else "+")
    return None


def _start(match: re.Match[str], length: int) -> int | None:
    """Where a record of `length` bases with such a name begins on the chromosome; None where its length disagrees."""
    if match["from"] is not None:
        start, end = int(match["from"]), int(match["to"])
        return start if end - start == length else None
    first, last = _number(match["first"]), _number(match["last"])
    if match["complement"]:
        first, last = last, first
    known = match["label"] is None and is_chromosome(match["chromosome"])
    if last is None:  # samtools, from there to the end
        return first - 1 if first and (known or match["to_end"]) else None
    if first is None:  # samtools, from the beginning
        return 0 if last == length else None
    if first and last - first + 1 == length:
        return first - 1
    if last - first == length:
        return first
    # samtools cuts what runs past the end of the chromosome and keeps the name as it was asked for.
    return first - 1 if first and known and 0 < length < last - first else None


def _number(text: str | None) -> int | None:
    digits = (text or "").replace(",", "")
    return int(digits) if digits else None


def _strand(match: re.Match[str]) -> Strand:
    return "-" if match["complement"] or match["strand"] in ("/rc", "(-)") else "+"


def _outer(chromosome: str, start: int, length: int, strand: Strand, half_open: bool) -> Place:
    """The place on the chromosome that `chromosome` is itself a piece of.

    Its length is not known here, so chr1:100-200 is read as the tool has it that cut the inner piece.
    """
    match = _PIECE.fullmatch(chromosome)
    if match is None or match["complement"]:
        return Place(chromosome, start, strand)
    first, last = _number(match["from"] or match["first"]), _number(match["to"] or match["last"])
    if first is None or last is None:
        return Place(chromosome, start, strand)
    half_open = match["strand"] != "/rc" and (half_open or bool(match["from"] or match["label"] or not first))
    begin = first if half_open else first - 1
    if start + length > last - begin:
        return Place(chromosome, start, strand)
    turned = _strand(match) == "-"
    at = last - start - length if turned else begin + start
    other: Strand = "-" if strand == "+" else "+"
    return _outer(match["chromosome"], at, length, other if turned else strand, half_open)


class Names:
    """The one rule of names: the exact one wins; an alias (chr1 and 1, chrM and MT) serves only where there is none.

    Of several `genomes` names are GENOME:NAME; the bare one serves as an alias where one genome alone has it.
    """

    def __init__(self, names: Iterable[str], genomes: Iterable[str] = ()) -> None:
        self._names = dict.fromkeys(names)
        self._genomes = set(genomes)
        self._aliases: dict[str, list[str]] = {}
        for name in self._names:
            for key in {self._key(name), alias_key(self._bare(name))}:
                self._aliases.setdefault(key, []).append(name)
        self.used: dict[str, str] = {}  # aliases that were read, and as what

    def find(self, name: str) -> str | None:
        """The known name that `name` means; None of an unknown one, and of an alias that several names share."""
        if name in self._names:
            return name
        others = self._aliases.get(self._key(name), [])
        if len(others) != 1:
            return None
        self.used[name] = others[0]
        return others[0]

    def several(self, name: str) -> list[str]:
        """The known names that one which is not known may mean; none where it means one, or nothing."""
        others = [] if name in self._names else self._aliases.get(self._key(name), [])
        return others if len(others) > 1 else []

    def _bare(self, name: str) -> str:
        """The name without that of its genome."""
        genome, _, rest = name.partition(":")
        return rest if genome in self._genomes and rest else name

    def _key(self, name: str) -> str:
        bare = self._bare(name)
        return name.removesuffix(bare) + alias_key(bare)

    def notes(self, asked: Iterable[str]) -> list[str]:
        """What is to be told of the names that were asked for: aliases, and exact names that have a namesake."""
        told = [f"{name} is read as {meant}" for name, meant in self.used.items()]
        for name in dict.fromkeys(asked):
            others = [other for other in self._aliases.get(self._key(name), []) if other != name]
            if name in self._names and others:
                told.append(f"{name} is read as {name} alone, not as {others[0]}")
            elif len(others) > 1:
                told.append(f"{name} may be {' or '.join(others)}, so it is read as neither")
        return told


def alias_key(name: str) -> str:
    """What all names of one chromosome share: 1 of chr1, MT of M and chrM."""
    bare = name[3:] if name[:3].lower() == "chr" else name
    return "MT" if bare in ("M", "MT") else bare
