"""How a count is said in a sentence, `1 seed`, `3 seeds`, and what an option was given, not what it is given now."""

from __future__ import annotations

from typing import Any


def counted(count: float | None, noun: str) -> str:
    """`1 block`, `1,200 bases`, `2 batches`; `n/a blocks` of a count that is not known."""
    said = "n/a" if count is None else f"{round(count):,}"
    return f"{said} {noun}" if said == "1" else f"{said} {noun}{'es' if noun.endswith(('ch', 'ss')) else 's'}"


def typed(value: Any) -> str:
    """A value as it is typed: lists with commas."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def was_given(option: str, before: Any, now: Any) -> str:
    """`--lr 0.001, not 0.5`; `no --content, not 59`; `--match-parameters, not without`."""
    if before is None or before is False:
        given = f"no {option}"
    else:
        given = option if before is True else f"{option} {typed(before)}"
    return f"{given}, not {'without' if now is None or now is False else 'with' if now is True else typed(now)}"
