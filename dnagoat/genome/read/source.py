"""Which bytes does a source hold, whatever it is called: plain, gzip or bgzip, decompressed and hashed in one pass."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from isal import isal_zlib
from isal.igzip_lib import IsalError

from dnagoat.errors import SourceError
from dnagoat.genome.read.ahead import ahead
from dnagoat.genome.read.genome_formats import FORMATS, find_format
from dnagoat.streams import is_stream, name_input, open_input

READ: Final = 1 << 18  # bytes of the file at a time
BLOCK: Final = 1 << 20  # decompressed bytes at a time, about: what stays in a core's cache
_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 64  # bytes that tell what a file is
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_MEMBER: Final = 31  # zlib's window bits for gzip, with its header and checksum

# What a file that is no FASTA begins with, and what a person calls it.
_OTHERS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\xff\xfe", "UTF-16 text; save it as plain ASCII or UTF-8"),
    (b"\xfe\xff", "UTF-16 text; save it as plain ASCII or UTF-8"),
    (b"BZh", "bzip2; unpack it first"),
    (b"\xfd7zXZ\x00", "xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "zstd; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"BAM\x01", "BAM; convert it with `samtools fasta`"),
    (b"CRAM", "CRAM; convert it with `samtools fasta`"),
    (b"\x89HDF", "HDF5, not {wanted}"),
    (b"LOCUS ", "GenBank; convert it to FASTA"),
    (b"ID   ", "EMBL; convert it to FASTA"),
    (b"##fileformat=VCF", "VCF, not {wanted}"),
    (b"##format=VC", "VCF, not {wanted}"),
    (b"##gff-version", "GFF, not {wanted}"),
    (b"@HD\t", "SAM; convert it with `samtools fasta`"),
    (b"@SQ\t", "SAM; convert it with `samtools fasta`"),
    (b"#NEXUS", "NEXUS, not {wanted}"),
    (b"CLUSTAL", "a Clustal alignment, not {wanted}"),
    (b"<", "HTML or XML, perhaps the error page of a download"),
    (b"@", "FASTQ, not {wanted}: reads with qualities; convert it with `seqtk seq -A`"),
)


def refuse_other(path: Path, head: bytes, wanted: str = "FASTA") -> None:
    """A `SourceError` that names what the file is, where its first bytes are those of something that is no FASTA."""
    formats = [(start, f"{one.name}, not {{wanted}}; {one.cure}") for one in FORMATS for start in one.starts]
    for start, name in (*formats, *_OTHERS):
        if head.startswith(start):
            raise SourceError(f"{name_input(path)} is {name.format(wanted=wanted)}")
    if b"\0" in head[:4096]:
        raise SourceError(f"{name_input(path)} is a binary file or UTF-16 text, not {wanted}")


def text_rows(content: bytes) -> Iterator[tuple[int, str, list[str]]]:
    """Number, text and fields of each line that is not blank; tabs part fields, or blanks where a line has no tab."""
    for number, line in enumerate(_LINE_END.split(content.decode("utf-8-sig", errors="replace")), start=1):
        if line.strip():
            yield number, line, [field.strip() for field in line.split("\t")] if "\t" in line else line.split()


class Source:
    """A file or a stream that is read once: `blocks()` yields its decompressed bytes and keeps count.

    After the last block `sha256` is that of the bytes as they came, and `gzi` the block offsets of a bgzip file
    (compressed, decompressed) without the first and the empty last, as htslib's index has them. `str(source)` is what a
    sentence calls it. `kind` is plain, gzip, bgzip or the name of a format that is no FASTA.
    """

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        self.path = path
        self.streamed = is_stream(path)
        self._threads = threads
        if not (self.streamed or path.exists()):
            raise SourceError(f"{path} does not exist; give a file that is there")
        if path.is_dir():
            raise SourceError(f"{path} is not a file but a folder; give a file")
        try:
            self._open = ExitStack()
            handle = self._open.enter_context(open_input(path))
            self.size = 0 if self.streamed else path.stat().st_size  # of a stream it is not known
            head = handle.read(_HEAD)
        except OSError as fault:
            raise SourceError(f"{self} cannot be read: {fault.strerror}") from None
        # What a stream gave it does not give again: it stays open, and its first bytes are kept.
        self._begun = (head, handle) if self.streamed else None
        self.format = find_format(head)  # None = FASTA
        self.kind = _compression(head) if self.format is None else self.format.name
        self.done = 0  # bytes of the file that were read
        self.gzi: list[tuple[int, int]] = []
        self._digest = sha256()
        if not self.streamed or not head or self.format is not None:
            self._open.close()
        if not head:
            raise SourceError(f"{self} is empty")
        if self.streamed and self.format is not None:
            raise SourceError(
                f"{self} is {self.format.name}, whose records are read by their place; save it to a file and name it"
            )

    def __str__(self) -> str:
        return name_input(self.path)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """Decompressed bytes in order, unpacked ahead by a second thread if there is one.

        A `SourceError` where the gzip is cut short or damaged.
        """
        return ahead(self._blocks()) if self._threads > 1 else self._blocks()

    def _blocks(self) -> Iterator[bytes]:
        parts, held = [], 0
        try:
            for piece in self._pieces():
                parts.append(piece)
                held += len(piece)
                if held >= BLOCK:
                    yield b"".join(parts)
                    parts, held = [], 0
        except SourceError:
            if parts:
                yield b"".join(parts)
            raise
        if parts:
            yield b"".join(parts)

    def _pieces(self) -> Iterator[bytes]:
        return self._unzipped() if self.kind in ("gzip", "bgzip") else self._raw()

    def _raw(self) -> Iterator[bytes]:
        with self._open:
            head, handle = self._begun or (b"", self._open.enter_context(self.path.open("rb")))
            while piece := head or self._read(handle):
                head = b""
                self.done += len(piece)
                self._digest.update(piece)
                yield piece

    def _read(self, handle: BinaryIO) -> bytes:
        try:
            return handle.read(READ)
        except OSError as fault:
            raise SourceError(f"{self} cannot be read: {fault.strerror}") from None

    def _unzipped(self) -> Iterator[bytes]:
        member = isal_zlib.decompressobj(_MEMBER)
        fresh, out = True, 0  # fresh: nothing of this member was fed yet
        for piece in self._raw():
            while piece:
                if fresh and not piece.strip(b"\0"):
                    break  # zero padding between or after members is allowed
                if fresh and out and not _GZIP.startswith(piece[:2]):
                    raise SourceError(f"{self} has something else after its gzip data; it is damaged")
                try:
                    data = member.decompress(piece)
                except IsalError as fault:  # type: ignore[misc]  # its stub declares an instance
                    reason = "its checksum does not match" if "checksum" in str(fault) else "it cannot be unpacked"
                    raise SourceError(f"{self} is a damaged gzip file: {reason}; fetch it again") from None
                fresh = False
                out += len(data)
                if data:
                    yield data
                if not member.eof:
                    break
                piece = member.unused_data
                member, fresh = isal_zlib.decompressobj(_MEMBER), True
                if self.kind == "bgzip":
                    self.gzi.append((self.done - len(piece), out))
        if not fresh:
            raise SourceError(f"{self} is a gzip file that was cut short; fetch it again")
        if self.kind == "bgzip":
            self._drop_end_marker(out)

    def _drop_end_marker(self, out: int) -> None:
        """The offset after the last block is no block's, nor is that of the empty block that ends a bgzip file."""
        self.gzi.pop()
        # Only this marker tells a file that was cut between two blocks from a whole one (SAM specification, 4.1.2).
        if out and (not self.gzi or self.gzi[-1][1] != out):
            if self.gzi and not self.streamed and _compression(self._head(self.gzi[-1][0])) != "bgzip":
                self.kind, self.gzi = "gzip", []  # ordinary gzip was put behind it: whole, but without blocks
                return
            raise SourceError(f"{self} is a bgzip file without its end marker, so it was cut short; fetch it again")
        if self.gzi:
            self.gzi.pop()

    def _head(self, at: int) -> bytes:
        with self.path.open("rb") as handle:
            handle.seek(at)
            return handle.read(_HEAD)

    def write_gzi(self, path: Path) -> None:
        """The block index in htslib's format: little-endian count, then (compressed, decompressed) offsets."""
        with path.open("wb") as handle:
            handle.write(struct.pack("<Q", len(self.gzi)))
            for pair in self.gzi:
                handle.write(struct.pack("<QQ", *pair))


def _compression(head: bytes) -> str:
    if not head.startswith(_GZIP):
        return "plain"
    # BGZF is gzip with an extra field whose subfield is named BC (SAM specification, section 4.1).
    return "bgzip" if head[3:4] == b"\x04" and head[12:14] == b"BC" else "gzip"
