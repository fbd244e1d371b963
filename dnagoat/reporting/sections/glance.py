"""One look: what each model scores, against the first and against counting, how its DNA varies, and what it cost."""

from __future__ import annotations

from dnagoat.evaluation.scoring.verdict_rule import judged_split
from dnagoat.reporting.cells import called, estimate, row_of
from dnagoat.reporting.comparability import Warnings, gc_warnings
from dnagoat.reporting.numbers import UNKNOWN, gibibytes, whole
from dnagoat.reporting.paired import differences
from dnagoat.reporting.sections.baselines import best_baseline
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.table import Cell, Column, Row, Table, Tone
from dnagoat.wording import counted

TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}
REFERENCE = Cell("reference")
NONE = Warnings({}, {})


def glance(results: Results, warnings: Warnings = NONE) -> Table:
    """A row a model, or an arm of a comparison over its seeds; what nobody has measured has no column."""
    rows = _of_arms(results, results.comparison, warnings) if results.comparison else _of_runs(results, warnings)
    reference = called(results, results.scored[0]) if results.comparison is None else results.comparison["reference"]
    columns = [
        Column("nll", "Test NLL", "nats per base"),
        Column("difference", f"Difference to {reference}", "nats per base"),
        Column("gain", "Gain over counting", "nats per base"),
        Column("gc_r", "GC %", "Pearson r"),
        Column("memory", "Peak memory"),
        Column("speed", "Speed", "bases/s"),
    ]
    known = [place for place in range(len(columns)) if any(row.cells[place].text not in DUMB for row in rows)]
    rows = [Row(row.head, [row.cells[place] for place in known], row.arm) for row in rows]
    return Table("glance", _title(results), "Model", [columns[place] for place in known], rows)


DUMB = (UNKNOWN, REFERENCE.text)


def _title(results: Results) -> str:
    if results.comparison is None:
        return "On DNA that the models have not seen"
    return f"Over {counted(len(results.comparison['seeds']), 'seed')}, on DNA that the models have not seen"


def _of_runs(results: Results, warnings: Warnings) -> list[Row]:
    paired = differences(results)
    rows = []
    for place, run in enumerate(results.scored):
        test, found = run.nll("test") or {}, paired.get(run.key)
        nll = estimate(test.get("value"), test.get("interval"), warnings=warnings.of(run, "test"))
        difference = REFERENCE if place == 0 else Cell(UNKNOWN)
        if place and found is not None:
            difference = estimate(found.value, found.bounds, sign=True)
        rows.append(row_of(results, run, [nll, difference, *_rest(run, warnings)]))
    return rows


def _of_arms(results: Results, comparison: Result, warnings: Warnings) -> list[Row]:
    firsts, split = {run.arm: run for run in results.firsts}, judged_split(comparison["arms"])
    rows = []
    for arm in comparison["arms"]:
        here, first = arm["splits"][split]["all"], firsts[arm["name"]]
        nll = estimate(here["value"], here["interval"], warnings=warnings.of(first, "test"))
        rows.append(Row(arm["name"], [nll, _judged(here["difference"]), *_rest(first, warnings)], arm["name"]))
    return rows


def _judged(found: Result | None) -> Cell:
    if found is None:
        return REFERENCE
    call = found["verdict"]
    cell = estimate(found["value"], found["over_seeds"], sign=True, under=call)
    return Cell(cell.text, cell.value, cell.low, cell.high, cell.under, tone=TONES.get(call, "unsure"))


def _rest(run: RunResults, warnings: Warnings) -> list[Cell]:
    """Gain over the best of the counts, GC %, memory, speed."""
    rung = best_baseline(run.nll("test")) or {}
    cuda, resident = run.peak("cuda_allocated_peak"), run.peak("resident_peak")
    memory = Cell(gibibytes(cuda or resident), cuda or resident, under="CUDA" if cuda else "resident")
    return [
        estimate(rung.get("gain"), rung.get("gain_interval"), sign=True, warnings=warnings.of(run, "test")),
        estimate(run.gc.get("r"), run.gc.get("interval"), 3, warnings=gc_warnings(run, warnings)),
        memory.warned(warnings.of(run, "memory")),
        Cell(whole(run.speed), run.speed).warned(warnings.of(run, "speed")),
    ]
