"""The first table of a report: what each model scores on DNA that it has not seen, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence

from dnagoat.reporting.cells import called, estimate, row_of
from dnagoat.reporting.comparability import Warnings, gc_warnings, same_bases
from dnagoat.reporting.numbers import UNKNOWN, decimals, listed, whole
from dnagoat.reporting.paired import Paired, differences
from dnagoat.reporting.sections.baselines import best_baseline
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Cell, Column, Table
from dnagoat.wording import counted


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
            _nll(test, "bits", "bits_interval", ()),
            _nll(val, "value", "interval", warnings.of(run, "val")),
            estimate(run.gc.get("r"), run.gc.get("interval"), 3, warnings=gc_warnings(run, warnings)),
        ]
        rows.append(row_of(results, run, cells))
    chosen = "The validation split chose the checkpoint, so its number flatters the model."
    sentences = ("Below a number stands its 95 % interval.", _scored(results), chosen, _best_count(results))
    notes = [" ".join(sentence for sentence in sentences if sentence)]
    title = "Scores on DNA that the models have not seen"
    if results.comparison is not None:
        title = "The first seed of each arm, in more detail"
    return Table("results", title, "Model", columns, rows, notes)


def _nll(result: Result | None, value: str, bounds: str, warnings: Sequence[str]) -> Cell:
    found = result or {}
    return estimate(found.get(value), found.get(bounds), warnings=warnings)


def _gain(result: Result | None) -> Cell:
    rung = best_baseline(result) or {}
    return estimate(rung.get("gain"), rung.get("gain_interval"), sign=True)


def _difference(paired: Paired | None, reference: bool) -> Cell:
    if reference:
        return Cell("reference")
    if paired is None:
        return Cell(UNKNOWN, warnings=("no scores on the same bases",))
    return estimate(paired.value, paired.bounds, sign=True)


def _best_count(results: Results) -> str:
    rung = next((best for run in results.runs if (best := best_baseline(run.nll("test")))), None)
    if rung is None:
        return ""
    if not same_bases(results.runs):
        return "A gain above 0 beats the best baseline on the model's own bases."
    value = decimals(rung["value"])
    return f"Best baseline: {rung['name']}, {value} nats per base on the same bases; a gain above 0 beats it."


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
