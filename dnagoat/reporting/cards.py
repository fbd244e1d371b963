"""The numbers below the verdict, each with what it is of: all of the model that predicts best."""

from __future__ import annotations

from dataclasses import dataclass

from dnagoat.reporting.cells import called
from dnagoat.reporting.comparability import Warnings, gc_warnings
from dnagoat.reporting.numbers import UNKNOWN, decimals, gibibytes, interval, large, whole
from dnagoat.reporting.sections.baselines import best_baseline
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.wording import counted


@dataclass(frozen=True)
class Card:
    """One number: its name, itself, its unit, what stands below it, and what warns of it."""

    head: str
    text: str
    unit: str
    under: str
    warnings: tuple[str, ...] = ()


def cards(results: Results, warnings: Warnings) -> list[Card]:
    """Likelihood and its gain over counting, GC %, memory, speed and reading of the best model; none without runs."""
    if not results.runs:
        return []
    run = _best(results)
    return [
        _likelihood(results, run, warnings),
        _gain(run, warnings),
        _correlation(run, warnings),
        _memory(run, warnings),
        Card(
            "Speed of training",
            whole(run.speed),
            "bases/s" if run.speed else "",
            f"{run.arm}, on {run.summary.get('device_name') or run.summary.get('device') or 'an unknown device'}",
            warnings.of(run, "speed"),
        ),
        Card("Bases seen", large(run.last("bases")), "", _reading(run), warnings.of(run, "bases")),
    ]


def _best(results: Results) -> RunResults:
    """The first run of the arm with the lowest NLL, over seeds where a comparison says it."""
    known = [run for run in results.runs if _nll(results, run)]
    return min(known, key=lambda run: float(_nll(results, run)["value"]), default=results.runs[0])


def _nll(results: Results, run: RunResults) -> Result:
    """The test NLL of a run; of a comparison's arm over all of its seeds."""
    arms = {arm["name"]: arm["splits"] for arm in (results.comparison or {}).get("arms", [])}
    found: Result = arms[run.arm].get("test", {}).get("all", {}) if run.arm in arms else run.nll("test") or {}
    return found


def _likelihood(results: Results, run: RunResults, warnings: Warnings) -> Card:
    nll = _nll(results, run)
    seeds = len(nll.get("by_seed", ()))
    name = f"{run.arm}, mean of {counted(seeds, 'seed')}" if seeds else called(results, run)
    said = ", ".join(part for part in (name, interval(nll.get("interval"))) if part)
    unit = "nats/base" if nll else ""
    return Card("Best test NLL", decimals(nll.get("value")), unit, said, warnings.of(run, "test"))


def _gain(run: RunResults, warnings: Warnings) -> Card:
    rung = best_baseline(run.nll("test"))
    gain = (rung or {}).get("gain")
    if rung is None or gain is None:
        return Card("Gain over counting", UNKNOWN, "", "no counts", warnings.of(run, "test"))
    bounds = interval(rung.get("gain_interval"), sign=True)
    said = f"{rung['name']} is at {decimals(rung['value'])}{f'; {bounds} on the same bases' if bounds else ''}"
    unit = "gained" if gain > 0 else "lost"
    return Card("Gain over counting", decimals(abs(gain)), unit, said, warnings.of(run, "test"))


def _reading(run: RunResults) -> str:
    """How long one run took to read them, at its speed."""
    bases = run.last("bases")
    if not bases or not run.speed:
        return "read by one run"
    minutes = bases / run.speed / 60
    return f"read by one run, in {'under a minute' if minutes < 1 else counted(minutes, 'minute')}"


def _correlation(run: RunResults, warnings: Warnings) -> Card:
    value, bounds = run.gc.get("r"), interval(run.gc.get("interval"), 2)
    said = f"written against true DNA; {bounds}" if bounds else "not measured"
    return Card("GC %, Pearson r", decimals(value, 3), "", said, gc_warnings(run, warnings))


def _memory(run: RunResults, warnings: Warnings) -> Card:
    peak = run.peak("cuda_allocated_peak")
    if peak:
        return Card("Peak CUDA memory", gibibytes(peak), "", f"{run.arm}, allocated", warnings.of(run, "memory"))
    resident = run.peak("resident_peak")
    under = f"no GPU; a run took {gibibytes(resident)}" if resident else "no GPU"
    return Card("Peak CUDA memory", UNKNOWN, "", under)
