"""Which numbers a report tabulates, each with its interval and the warning that belongs beside it."""

from __future__ import annotations

from typing import Any

from dnagoat.reporting.comparability import Warnings, same_bases
from dnagoat.reporting.numbers import UNKNOWN, decimals, gibibytes, interval, large, listed, whole
from dnagoat.reporting.paired import Paired, differences
from dnagoat.reporting.results import Result, Results, RunResults
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted


def called(results: Results, run: RunResults) -> str:
    """The arm, with the seed where an arm has several and the run's name where even that is not enough."""
    same = results.of(run.arm)
    if len(same) == 1:
        return run.arm
    seeds = [other.seed for other in same]
    return f"{run.arm}, seed {run.seed}" if seeds.count(run.seed) == 1 else f"{run.arm}, {run.slug}"


def row_of(results: Results, run: RunResults, cells: list[Cell], warning: str = "") -> Row:
    """A model's row in its arm's colour; the warning belongs beside each number of it."""
    return Row(called(results, run), [cell.warned(warning) for cell in cells], arm=run.arm)


def outcome(results: Results, warnings: Warnings) -> Table:
    """The first table: likelihood on test and validation, differences, gain over the best count, GC trajectory."""
    paired = differences(results) if results.comparison is None else {}  # a comparison has judged all seeds
    reference = called(results, results.scored[0])
    columns = [
        Column("test_nll", "Test NLL", "nats per base"),
        *([Column("difference", f"Difference to {reference}", "nats per base")] if paired else []),
        Column("gain", "Gain over best baseline", "nats per base"),
        Column("test_bits", "Test NLL", "bits per base"),
        Column("val_nll", "Validation NLL", "nats per base"),
        Column("gc_r", "GC % trajectory", "Pearson r"),
    ]
    rows = []
    for run in results.scored:
        test, val = run.nll("test"), run.nll("val")
        cells = [
            _nll(test, "value", "interval", warnings.of(run, "test")),
            *([_difference(paired.get(run.key), run is results.scored[0])] if paired else []),
            _gain(test),
            _nll(test, "bits", "bits_interval", ""),
            _nll(val, "value", "interval", warnings.of(run, "val")),
            _correlation(run.measures.get("generation"), warnings.of(run, "generation")),
        ]
        rows.append(row_of(results, run, cells))
    chosen = "The validation split chose the checkpoint, so its number flatters the model."
    sentences = ("Below a number stands its 95 % interval.", _scored(results), chosen, _best_count(results))
    notes = [" ".join(sentence for sentence in sentences if sentence)]
    title = "Scores on DNA that the models have not seen"
    if results.comparison is not None:
        title = "The first seed of each arm, in more detail"
    return Table("results", title, "Model", columns, rows, notes)


def cost(results: Results, warnings: Warnings) -> Table:
    """What each model needed: weights, bases read, speed, memory of device and process."""
    columns = [
        Column("parameters", "Weights"),
        Column("bases", "Bases read in training"),
        Column("tokens_per_second", "Training speed", "bases per second"),
        Column("cuda_allocated", "Peak CUDA memory, allocated"),
        Column("cuda_reserved", "Peak CUDA memory, reserved"),
        Column("resident", "Peak resident memory of the process"),
    ]
    rows = []
    for run in results.scored:
        parameters, bases, speed = run.parameters, run.last("bases"), run.speed
        allocated, reserved = run.peak("cuda_allocated_peak"), run.peak("cuda_reserved_peak")
        resident = run.peak("resident_peak")
        cells = [
            Cell(large(parameters), parameters, warning=warnings.of(run, "parameters")),
            Cell(large(bases), bases, warning=warnings.of(run, "bases")),
            Cell(whole(speed), speed, warning=warnings.of(run, "speed")),
            _memory(allocated, warnings.of(run, "memory"), unknown="no GPU"),
            _memory(reserved, warnings.of(run, "memory"), unknown="no GPU"),
            _memory(resident, warnings.of(run, "memory")),
        ]
        rows.append(row_of(results, run, cells))
    notes = [
        "Speed is the median over the steps of training as it ran, evaluation left out. Resident memory is that of the "
        "whole process, Python and libraries included: it is not comparable with CUDA memory."
    ]
    return Table("cost", "What it cost", "Model", columns, rows, notes)


def baselines(results: Results, split: str = "test") -> Table | None:
    """The ladder on exactly the bases that the models were scored on, with each model's gain over each rung."""
    measured = [(run, nll) for run in results.runs if (nll := run.nll(split)) and nll.get("baselines")]
    if not measured:
        return None
    columns = [Column("nll", "NLL", "nats per base")]
    columns += [Column(f"gain_{run.slug}", f"Gain of {called(results, run)}", "nats per base") for run, _ in measured]
    shared = same_bases([run for run, _ in measured], split)
    foreign = "" if shared else f"on the bases of {called(results, measured[0][0])}"
    rows = []
    for name in [baseline["name"] for baseline in measured[0][1]["baselines"]]:
        each = [_named(nll, name) for _, nll in measured]
        first = each[0] or {}
        cells = [_nll(first, "value", "interval", foreign)]
        cells += [_signed(rung.get("gain"), rung.get("gain_interval")) if rung else Cell(UNKNOWN) for rung in each]
        rows.append(Row(rung_name({"name": name}), cells, muted=True))
    notes = [
        "A positive gain means that the model needs fewer nats per base than the baseline. "
        "Gains are paired: both are scored on the same bases, and the interval resamples the same blocks."
    ]
    return Table(
        f"baselines-{split}", "The yardstick: what counting gives on the same bases", "Baseline", columns, rows, notes
    )


SPOKEN = {"order-mix": "mix of all orders", "repeats": "repeat copier"}


def rung_name(rung: Result) -> str:
    """`order-12-backoff` as a reader is told it."""
    name = str(rung["name"])
    return SPOKEN.get(name, name.replace("-backoff", ", backing off").replace("-hashed", ", hashed"))


def null_name(generation: Result, name: str) -> str:
    """What stands beside generated DNA, as a reader is told it: `markov` is the chain of some order."""
    return f"order-{generation['markov_order']} Markov" if name == "markov" else name


def best_baseline(nll: Result | None) -> Result | None:
    """The rung of the ladder with the lowest NLL."""
    rungs = (nll or {}).get("baselines") or []
    return min(rungs, key=lambda rung: float(rung["value"]), default=None)


def _memory(peak: int | None, warning: str, unknown: str = "") -> Cell:
    return Cell(gibibytes(peak), peak, warning=warning) if peak else Cell(UNKNOWN, under=unknown)


def _nll(result: Result | None, value: str, bounds: str, warning: str) -> Cell:
    if not result or result.get(value) is None:
        return Cell(UNKNOWN)
    low, high = result.get(bounds) or (None, None)
    return Cell(decimals(result[value]), result[value], low, high, interval((low, high)), warning)


def _gain(result: Result | None) -> Cell:
    rung = best_baseline(result)
    if rung is None:
        return Cell(UNKNOWN)
    return _signed(rung.get("gain"), rung.get("gain_interval"))


def _difference(paired: Paired | None, reference: bool) -> Cell:
    if reference:
        return Cell("reference")
    return _signed(paired.value, paired.bounds) if paired else Cell(UNKNOWN, warning="no scores on the same bases")


def _best_count(results: Results) -> str:
    rung = next((best for run in results.runs if (best := best_baseline(run.nll("test")))), None)
    if rung is None:
        return ""
    if not same_bases(results.runs):
        return "A gain above 0 beats the best baseline on the model's own bases."
    value = decimals(rung["value"])
    return f"Best baseline: {rung_name(rung)}, {value} nats per base on the same bases; a gain above 0 beats it."


def _signed(value: float | None, bounds: Any) -> Cell:
    low, high = bounds or (None, None)
    return Cell(decimals(value, sign=True), value, low, high, interval((low, high), sign=True))


def _correlation(generation: Result | None, warning: str) -> Cell:
    pooled = (generation or {}).get("gc", {}).get("pooled") or {}
    low, high = pooled.get("interval") or (None, None)
    said = "; ".join([*(generation or {}).get("warnings", []), *([warning] if warning else [])])
    return Cell(decimals(pooled.get("r"), 3), pooled.get("r"), low, high, interval((low, high), 3), said)


def _named(nll: Result, name: str) -> Result | None:
    return next((rung for rung in nll["baselines"] if rung["name"] == name), None)


def _scored(results: Results) -> str:
    """How many bases the test numbers are over, run by run where they differ."""
    said: dict[str, list[str]] = {}
    for run in results.runs:
        if nll := run.nll("test"):
            blocks = f"{counted(nll.get('blocks'), 'block')} of {counted(nll.get('block_bases'), 'base')}"
            text = f"{counted(nll.get('count'), 'scored base')} in {blocks}, {whole(nll.get('resamples'))} resamples"
            said.setdefault(text, []).append(called(results, run))
    if len(said) < 2:
        return "".join(f"Test: {text}." for text in said)
    return " ".join(f"Test of {listed(names)}: {text}." for text, names in said.items())
