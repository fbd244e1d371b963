"""How near to its tolerance each test comes: a pytest plugin that reads what the assertions compare.

    MARGINS=FILE PYTHONPATH=benchmarks pytest -p margins -o enable_assertion_pass_hook=true

FILE takes, as JSON, the largest error / tolerance of every line that holds `error < bar` (bars of a number below 0.2),
`x == approx(y)`, `allclose` or `assert_close`, with the test and what it compared.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

NUMBER = r"([-+]?\d+\.?\d*(?:e[-+]?\d+)?)"
BELOW = re.compile(rf"^(?:tensor\(|np\.float\d+\()?{NUMBER}(?:, [^)]*)?\)? <=? {NUMBER}(?:\s|$)")
NEAR = re.compile(rf"(?<![\w.]){NUMBER}\)? == {NUMBER} ± {NUMBER}")
COARSE = 0.2  # from here on a bar is a bound of another kind, not a rounding error's
DEFAULTS = {torch.float64: (1e-7, 1e-7), torch.float32: (1.3e-6, 1e-5)}  # relative, absolute: assert_close's own

# Tests are compiled apart from here on: pytest keeps them without regard to whether assertions that hold are told.
sys.pycache_prefix = os.environ["MARGINS"] + ".cache"

largest: dict[str, tuple[float, str]] = {}
running = ""


def note(line: int, ratio: float, compared: str) -> None:
    """Keeps `ratio` where it is the largest of its line so far."""
    key = f"{running.split('[')[0]}:{line}"
    if ratio > largest.get(key, (-1.0, ""))[0]:
        largest[key] = ratio, f"{running}: {compared}"


def pytest_runtest_call(item: pytest.Item) -> None:
    global running
    running = item.nodeid


def pytest_assertion_pass(lineno: int, expl: str) -> None:
    if found := BELOW.match(expl):
        error, bar = float(found[1]), float(found[2])
        if 0 < bar < COARSE:
            note(lineno, error / bar, found[0])
    for found in NEAR.finditer(expl):
        got, want, tolerance = (float(part) for part in found.groups())
        if tolerance:
            note(lineno, abs(got - want) / tolerance, found[0])


def ratio(got: Any, want: Any, relative: float, absolute: float) -> float:
    """The largest |got - want| / (absolute + relative |want|); 0 where nothing differs or nothing is comparable."""
    got, want = (
        np.asarray(x.detach().double() if isinstance(x, torch.Tensor) else x, dtype=float) for x in (got, want)
    )
    with np.errstate(all="ignore"):
        gap = np.abs(got - want)
        return float(np.nan_to_num(gap / (absolute + relative * np.abs(want)), posinf=0).max(initial=0))


def watched(compare: Callable[..., Any], defaults: Callable[[Any], tuple[float, float]]) -> Callable[..., Any]:
    """`compare`, which now also notes how near it came."""

    def wrapper(got: Any, want: Any, *args: Any, **settings: Any) -> Any:
        relative, absolute = (
            settings[name] if settings.get(name) is not None else default
            for name, default in zip(("rtol", "atol"), defaults(got), strict=True)
        )
        try:
            near = ratio(got, want, relative, absolute)
        except (RuntimeError, TypeError, ValueError):  # no numbers, or other shapes: that is the comparison's to say
            near = 0.0
        result = compare(got, want, *args, **settings)
        if result is not False:  # a test may also ask that two things are not close
            note(sys._getframe(1).f_lineno, near, f"{compare.__name__}, rtol {relative:g}, atol {absolute:g}")
        return result

    return wrapper


np.testing.assert_allclose = watched(np.testing.assert_allclose, lambda _: (1e-7, 0.0))
np.allclose = watched(np.allclose, lambda _: (1e-5, 1e-8))
torch.allclose = watched(torch.allclose, lambda _: (1e-5, 1e-8))
torch.testing.assert_close = watched(
    torch.testing.assert_close, lambda got: DEFAULTS.get(getattr(got, "dtype", torch.float64), (1.6e-2, 1e-5))
)


def pytest_sessionfinish() -> None:
    Path(os.environ["MARGINS"]).write_text(json.dumps(largest, indent=1) + "\n", encoding="utf-8")
