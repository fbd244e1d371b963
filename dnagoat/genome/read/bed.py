"""Which lines of a BED file are intervals, and what are their fields?

BED: name, start, end, then columns that depend (https://genome.ucsc.edu/FAQ/FAQformat.html); 0-based and half-open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NOT_INTERVALS: Final = re.compile(r"(#|track|browser)(\s|$)|#")


def interval_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number (from 1) and fields of each line that is no comment, no `track` or `browser` line, and not blank.

    Fields are as written, however few they are: what to say of a wrong one is the reader's to know.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not _NOT_INTERVALS.match(line):
            yield number, line.split("\t") if "\t" in line else line.split()
