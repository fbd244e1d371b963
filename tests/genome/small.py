"""Small genomes: random bases, FASTA text, and the ways in which a file is packed."""

from __future__ import annotations

import gzip
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
