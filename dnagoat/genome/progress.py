"""How far is a preparation?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple


class Stage(NamedTuple):
    """What is being done, how much of it is (bytes of a download, else bases), and its share (0 to 1)."""

    stage: Literal["download", "index", "bases", "windows", "kmers", "memory"]
    done: int
    share: float
    total: int | None = None


Tell = Callable[[Stage], None]
