"""Which records does FASTA text hold? One pass over any line ends, which also writes the index that pyfaidx reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from dnagoat.errors import SourceError
from dnagoat.genome.alphabet import GAP, TABLE, letter_name
from dnagoat.genome.read.lines import Entry, Lines, line_ends
from dnagoat.genome.read.records import BLANK, Bases, GapRule, Header, Refused, bases_of
from dnagoat.genome.read.source import Source, refuse_other

_BOM: Final = b"\xef\xbb\xbf"
_LONGEST_HEADER: Final = 1 << 20
_LINE_END: Final = re.compile(rb"[\r\n]")


class FastaScan:
    """One pass over a source: `events()` yields its records; `index` and `uneven` are complete after the last."""

    def __init__(
        self, source: Source, gaps: GapRule = "refuse", copy: Path | None = None, cure: str = "take gaps out"
    ) -> None:
        self.source = source
        self.gaps = gaps
        self._cure = cure  # of a gap: what the caller has an option for
        self._copy = copy  # where the unpacked text is written too
        self.index: list[Entry] = []
        self.uneven: list[str] = []
        self._names: set[str] = set()
        self._lines: Lines | None = None
        self._line = 1  # number of the line that is being read
        self._at = 0  # decompressed bytes before the text that is being read

    def events(self) -> Iterator[Header | Bases]:
        """Headers and bases in order; a `SourceError` of one sentence at the first thing that is not FASTA of DNA."""
        held, fresh, begun = b"", True, False  # fresh: the text begins a line
        for text, last in _steady(self._blocks()):
            if not begun:
                text, begun = self._begin(text), True
            text = held + text
            marks = _marks(text, fresh or bool(held))
            held, place = b"", 0
            for mark in marks:
                if mark > place:
                    yield from self._sequence(text[place:mark])
                end = _LINE_END.search(text, mark)
                if end is None and not last:
                    held, place = text[mark:], len(text)
                    break
                place = _after(text, end.start()) if end else len(text)
                yield from self._special(text[mark:place])
            if len(held) > _LONGEST_HEADER:
                raise SourceError(f"{self._where()}: a header of over a million bytes; this is not FASTA")
            if place < len(text):
                yield from self._sequence(text[place:])
            fresh = text[-1:] in (b"\n", b"\r")
        if self._lines is None:
            raise SourceError(f"{self.source} holds no FASTA record: no line begins with '>'")
        self._close()

    def _blocks(self) -> Iterator[bytes]:
        if self._copy is None:
            yield from self.source.blocks()
            return
        with self._copy.open("wb") as handle:
            for block in self.source.blocks():
                handle.write(block)
                yield block

    def _begin(self, text: bytes) -> bytes:
        if text.startswith(_BOM):
            self._at = len(_BOM)
            text = text[len(_BOM) :]
        refuse_other(self.source.path, text.lstrip(BLANK))
        return text

    def _special(self, line: bytes) -> Iterator[Header]:
        """A header; or a comment (';' begins one, as in Pearson's FASTA), which has no place in the index."""
        self._pass(line)
        if line[:1] == b">":
            yield self._header(line)
        elif self._lines is not None:
            self._lines.even = False

    def _pass(self, piece: bytes, ends: int | None = None) -> None:
        self._at += len(piece)
        self._line += len(line_ends(piece)) if ends is None else ends

    def _header(self, line: bytes) -> Header:
        self._close()
        words = line[1:].split(maxsplit=1)
        number = self._line - 1 if line[-1:] in b"\r\n" else self._line
        where = f"{self.source}, line {number:,}"
        if not words or line[1:2] in (b" ", b"\t"):
            raise SourceError(f"{where}: a header without a name; put one right after the '>'")
        try:
            name = words[0].decode("utf-8")
            description = words[1].decode("utf-8", errors="replace").strip() if len(words) > 1 else ""
        except UnicodeDecodeError:
            raise SourceError(f"{where}: the record's name is not UTF-8 text") from None
        if not name.isprintable():
            raise SourceError(f"{where}: the record's name {name!r} has a control character") from None
        if name in self._names:
            raise SourceError(
                f"{where}: a second record is named {_short(name)}; names (up to the first blank) must differ"
            )
        self._names.add(name)
        self._lines = Lines(name, self._at)
        return Header(name, description)

    def _sequence(self, piece: bytes) -> Iterator[Bases]:
        ends = line_ends(piece)
        if self._lines is None:
            self._refuse_text(piece)
        else:
            try:
                bases = bases_of(piece, self.gaps)
            except Refused as fault:
                raise self._refused(piece, fault.place) from None
            # With gaps dropped, or blanks within lines, a column of the file is no longer the place of a base.
            self._lines.even &= not bases.gaps and b" " not in piece and b"\t" not in piece
            self._lines.add(piece, ends, bases.tokens.size)
            if bases.tokens.size:
                yield bases
        self._pass(piece, ends.size)

    def _refuse_text(self, piece: bytes) -> None:
        """A `SourceError` where something but blank lines comes before the first header."""
        text = piece.lstrip(BLANK)
        if text:
            self._pass(piece[: len(piece) - len(text)])
            shown = text.splitlines()[0][:40].decode("latin-1")
            raise SourceError(f"{self._where()}: text before the first header ({shown!r}); a record begins with '>'")

    def _refused(self, piece: bytes, letter: int) -> SourceError:
        """What is wrong with the piece's letter of that number, blanks not counted."""
        blank = np.isin(np.frombuffer(piece, dtype=np.uint8), np.frombuffer(BLANK, dtype=np.uint8))
        place = int(np.flatnonzero(~blank)[letter])
        self._pass(piece[:place])
        where = f"{self._where()}, record {_short(self._lines.name if self._lines else '')}"
        name = letter_name(piece[place])
        if TABLE[piece[place]] == GAP:
            return SourceError(f"{where}: {name} is a gap, not a base; {self._cure}")
        if chr(piece[place]) in "EFILPQZefilpqz":
            return SourceError(f"{where}: {name} is an amino acid, not a nucleotide; this looks like protein")
        return SourceError(f"{where}: {name} is not a nucleotide letter")

    def _close(self) -> None:
        lines = self._lines
        if lines is None:
            return
        lines.close()
        if lines.even:
            self.index.append(Entry(lines.name, lines.length, lines.offset, lines.bases, lines.width))
        else:
            self.uneven.append(lines.name)

    def _where(self) -> str:
        return f"{self.source}, line {self._line:,}"

    def share(self) -> float:
        return self.source.done / self.source.size if self.source.size else 0.0

    def write_index(self, folder: Path) -> None:
        """genome.fai as `samtools faidx` has it, without records whose lines are uneven; genome.gzi for bgzip."""
        if self.source.kind == "bgzip":
            self.source.write_gzi(folder / "genome.gzi")
        with (folder / "genome.fai").open("w", encoding="utf-8", newline="\n") as handle:
            for entry in self.index:
                handle.write(f"{entry.name}\t{entry.length}\t{entry.offset}\t{entry.line_bases}\t{entry.line_width}\n")


def _steady(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Blocks that never end between the two bytes of a CRLF, each with whether it is the last."""
    held = b""
    try:
        for block in blocks:
            if held and not held.endswith(b"\r"):
                yield held, False
                held = block
            else:
                held += block
    except SourceError:
        yield held, False  # what came before the damage is judged first: it may not be FASTA at all
        raise
    if held:
        yield held, True


def _marks(text: bytes, fresh: bool) -> list[int]:
    """Where lines begin that are no sequence: those of '>' and ';'."""
    marks = []
    for letter in (b">", b";"):
        at = text.find(letter)
        while at >= 0:
            if text[at - 1] in b"\r\n" if at else fresh:
                marks.append(at)
            at = text.find(letter, at + 1)
    return sorted(marks)


def _after(text: bytes, end: int) -> int:
    return end + (2 if text[end : end + 2] == b"\r\n" else 1)


def _short(name: str, most: int = 60) -> str:
    return name if len(name) <= most else f"{name[:most]}… ({len(name):,} characters)"
