"""Small genomes: random bases, FASTA and 2bit, and the ways in which a file is packed."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
from Bio import bgzf


def random_bases(length: int, seed: int = 0, letters: str = "ACGT") -> str:
    return "".join(np.random.default_rng(seed).choice(list(letters), length))


def fasta(records: dict[str, str], width: int = 60) -> str:
    return "".join(
        f">{name}\n" + "".join(f"{bases[at : at + width]}\n" for at in range(0, len(bases), width))
        for name, bases in records.items()
    )


def packed(data: bytes, how: str, path: Path) -> Path:
    """Writes bytes as plain, gzip of several members, or bgzip of small blocks."""
    if how == "plain":
        path.write_bytes(data)
    elif how == "gzip":
        third = len(data) // 3 + 1
        path.write_bytes(b"".join(gzip.compress(data[at : at + third]) for at in range(0, max(len(data), 1), third)))
    else:
        with bgzf.BgzfWriter(str(path)) as writer:
            for at in range(0, len(data), 100):
                writer.write(data[at : at + 100])
                writer.flush()
    return path


def runs(flags: list[bool]) -> list[tuple[int, int]]:
    """(start, size) of each stretch of true flags."""
    edges = np.flatnonzero(np.diff([False, *flags, False]))
    return [(int(start), int(end - start)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def twobit(records: dict[str, str]) -> bytes:
    """A 2bit file as https://genome.ucsc.edu/FAQ/FAQformat.html#format7 describes it, little-endian."""
    parts = []
    for bases in records.values():
        part = struct.pack("<I", len(bases))
        for flags in ([base in "Nn" for base in bases], [base.islower() for base in bases]):
            blocks = runs(flags)
            part += struct.pack(f"<I{2 * len(blocks)}I", len(blocks), *(b[0] for b in blocks), *(b[1] for b in blocks))
        packed = bytearray((len(bases) + 3) // 4)
        for place, base in enumerate(bases.upper()):
            packed[place // 4] |= "TCAG".find(base.replace("N", "T")) << (6 - 2 * (place % 4))
        parts.append(part + struct.pack("<I", 0) + bytes(packed))
    at = 16 + sum(5 + len(name) for name in records)
    index = b""
    for name, part in zip(records, parts, strict=True):
        index += bytes([len(name)]) + name.encode() + struct.pack("<I", at)
        at += len(part)
    return struct.pack("<4I", 0x1A412743, 0, len(records), 0) + index + b"".join(parts)
