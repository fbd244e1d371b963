"""Which formats does a genome come in besides FASTA? One is a module that reads it, and a line here.

Whoever reads all records asks `in_order`, whoever looks regions up asks `genome`: neither knows a format by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dnagoat.genome.read.records import ByPlace, Records
    from dnagoat.genome.read.source import Source


@dataclass(frozen=True)
class Format:
    """A format whose files, not streams, are read by place.

    `starts` are what a file may begin with, `ending` is that of its name, `cure` says what makes FASTA of it.
    """

    name: str
    starts: tuple[bytes, ...]
    ending: str
    cure: str
    scan: Callable[[Source], Records]
    look_up: Callable[[Path], ByPlace]


def _scan_twobit(source: Source) -> Records:
    from dnagoat.genome.read.twobit import TwoBitScan

    return TwoBitScan(source)


def _look_up_twobit(path: Path) -> ByPlace:
    from dnagoat.genome.read.twobit import TwoBit

    return TwoBit(path)


FORMATS = [
    Format(
        name="2bit",
        starts=(b"\x1a\x41\x27\x43", b"\x43\x27\x41\x1a"),  # in either order of bytes
        ending=".2bit",
        cure="`twoBitToFa` makes FASTA of it",
        scan=_scan_twobit,
        look_up=_look_up_twobit,
    ),
]


def find_format(head: bytes) -> Format | None:
    """The format whose files begin so; None of FASTA, compressed or not, and of what is unknown."""
    return next((one for one in FORMATS if head.startswith(one.starts)), None)
