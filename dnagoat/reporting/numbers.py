"""How numbers are written for a reader: digits that mean something, units, and n/a for what is not known."""

from __future__ import annotations

from typing import Any

UNKNOWN = "n/a"
GIB = 1 << 30


def decimals(value: float | None, digits: int = 4, *, sign: bool = False) -> str:
    """A number with fixed decimals, and a true minus sign."""
    if value is None:
        return UNKNOWN
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def interval(bounds: Any, digits: int = 4, *, sign: bool = False) -> str:
    """`0.123 to 0.456`: words, since a dash between negative numbers cannot be read."""
    if not bounds or None in bounds:
        return ""
    low, high = bounds
    return f"{decimals(low, digits, sign=sign)} to {decimals(high, digits, sign=sign)}"


def with_interval(value: float | None, bounds: Any, digits: int = 4, *, sign: bool = False) -> str:
    """`0.234 (0.123 to 0.456)`; the number alone where it has no interval."""
    said = interval(bounds, digits, sign=sign)
    return decimals(value, digits, sign=sign) + (f" ({said})" if said else "")


def whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{round(value):,}"


def large(value: float | None) -> str:
    """Three significant digits with k, M or G: 1.23 M."""
    if value is None:
        return UNKNOWN
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def gibibytes(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value / GIB:.2f} GiB"


def percent(value: float | None, digits: int = 1) -> str:
    return UNKNOWN if value is None else f"{100 * value:.{digits}f} %"


def listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
