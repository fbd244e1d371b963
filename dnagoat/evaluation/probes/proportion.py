"""How sure a share of hits is: Wilson's interval, which stays inside 0 to 1 and says something even at 0 of n."""

from __future__ import annotations

from typing import Any

from scipy.stats import binomtest

from dnagoat.evaluation.scoring.intervals import LEVEL


def share(hits: int, trials: int) -> dict[str, Any]:
    """`{hits, trials, value, interval}`; value and interval are None where nothing was tried."""
    if trials == 0:
        return {"hits": 0, "trials": 0, "value": None, "interval": None}
    bounds = binomtest(hits, trials).proportion_ci(LEVEL, method="wilson")
    return {
        "hits": hits,
        "trials": trials,
        "value": hits / trials,
        "interval": [float(bounds.low), float(bounds.high)],
    }
