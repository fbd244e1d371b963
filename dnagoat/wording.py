"""How a count is said in a sentence: `1 seed`, `3 seeds`."""

from __future__ import annotations


def counted(count: float | None, noun: str) -> str:
    """`1 block`, `1,200 bases`, `2 batches`; `n/a blocks` of a count that is not known."""
    said = "n/a" if count is None else f"{round(count):,}"
    return f"{said} {noun}" if said == "1" else f"{said} {noun}{'es' if noun.endswith(('ch', 'ss')) else 's'}"
