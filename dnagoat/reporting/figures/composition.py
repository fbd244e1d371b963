"""Whether generated DNA has the composition of the true continuation: GC % along it, correlations, k-mers."""

from __future__ import annotations

from dnagoat.reporting.figures.figure import Figure
from dnagoat.reporting.results import Results


def every(results: Results) -> list[Figure | None]:
    return []
