"""The yardstick: what counting gives on exactly the bases that the models were scored on, as a ladder and a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dnagoat.reporting.cells import called, estimate
from dnagoat.reporting.comparability import Warnings, same_bases
from dnagoat.reporting.drawing.figure import Figure, canvas, name_rows
from dnagoat.reporting.drawing.marks import draw_estimate, mark
from dnagoat.reporting.numbers import decimals, listed, with_interval
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import MUTED, Look, drawing, looks
from dnagoat.reporting.table import Column, Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

BEST = 5  # counts that are drawn; the table has them all
UNIFORM = math.log(4)  # nats per base of a guess that knows nothing
PAIRED = (
    "Overlapping intervals do not mean that two models are equal: they are scored on the same bases, so the paired "
    "difference decides."
)
FIRST = ", which is the first of each arm"
UNPAIRED = "The dots are over different bases, so their order does not say which model is better."


def ladder(results: Results, warnings: Warnings, split: str = "test") -> Figure | None:
    """Dots with intervals, the best first: each model, and the best few counts among them.

    Counts are drawn where all runs were scored on the same bases; no dot would hold for several otherwise.
    """
    measured = [(run, nll) for run in results.scored if (nll := run.nll(split)) is not None]
    if not measured:
        return None
    runs = [run for run, _ in measured]
    one_each = len({run.arm for run in runs}) == len(runs)
    names = {run.key: run.arm if one_each else called(results, run) for run in runs}
    shared = same_bases(runs, split)
    known = (nll["baselines"] for _, nll in measured if nll.get("baselines"))
    counts: list[Result] = next(known, []) if shared else []
    best = sorted(counts, key=lambda each: float(each["value"]))[:BEST]
    rows: list[tuple[str, str | None, Result]] = [(names[run.key], run.arm, nll) for run, nll in measured]
    rows += [(rung["name"], None, rung) for rung in best]
    told = [f"{name} {decimals(result['value'])}" for name, arm, result in rows if arm][:8]
    against = f" The best baseline, {best[0]['name']}, has {decimals(best[0]['value'])}." if best else ""
    fewer = f"; {len(counts) - len(best)} more counts stand in the table" if len(counts) > len(best) else ""
    return Figure(
        f"nll-{split}",
        "Does it beat counting?",
        reading=f"Further left is better; grey rows are counts of the training split{fewer}."
        if shared
        else "Further left is better, but these models were scored on different bases, so no counts are drawn.",
        limits=f"{PAIRED if shared else UNPAIRED} The line is the 95 % interval over blocks of the genome: it covers "
        f"which stretches were drawn, not the training seed{FIRST if len(runs) < len(results.runs) else ''}.",
        alt=f"Dots with intervals of NLL on the {split} split in nats per base: {listed(told)}.{against}",
        drawing=_draw_rows(sorted(rows, key=lambda row: float(row[2]["value"])), split, looks(results.arms)),
        warnings=warnings.among(runs, split),
    )


def _draw_rows(rows: list[tuple[str, str | None, Result]], split: str, styles: dict[str, Look]) -> Drawing:
    """A name, the arm where it is a model's, and its result."""
    with drawing():
        figure, (panel,) = canvas(height=0.8 + 0.27 * len(rows))
        for place, (name, arm, result) in enumerate(rows):
            value, bounds = float(result["value"]), result.get("interval")
            said = f"{name}: {with_interval(value, bounds)} nats per base"
            draw_estimate(panel, value, bounds, place, styles.get(arm or ""), arm, said)
            words = panel.annotate(
                decimals(value), ((bounds or [value])[-1], place), xytext=(6, 0), textcoords="offset points",
                va="center", fontsize=8.5,
            )  # fmt: skip
            mark(words, arm)
        name_rows(panel, [(name, arm) for name, arm, _ in rows])
        for label, (_, arm, _) in zip(panel.get_yticklabels(), rows, strict=True):
            label.set_fontweight("bold" if arm else "normal")
        low, high = panel.get_xlim()
        panel.set_xlim(low, high + 0.08 * (high - low))
        if panel.get_xlim()[1] >= UNIFORM:
            panel.axvline(UNIFORM, color=MUTED.light, linewidth=1, linestyle=":")
        panel.set_xlabel(f"NLL on the {split} split (nats per base; a guess has 1.386)")
    return figure


def baselines(results: Results, split: str = "test") -> Table | None:
    """The ladder on exactly the bases that the models were scored on, with each model's gain over each rung."""
    measured = [(run, nll) for run in results.runs if (nll := run.nll(split)) and nll.get("baselines")]
    if not measured:
        return None
    columns = [Column("nll", "NLL", "nats per base")]
    columns += [Column(f"gain_{run.slug}", f"Gain of {called(results, run)}", "nats per base") for run, _ in measured]
    shared = same_bases([run for run, _ in measured], split)
    foreign = () if shared else (f"on the bases of {called(results, measured[0][0])}",)
    rows = []
    for baseline in measured[0][1]["baselines"]:
        each = [find_baseline(nll, baseline["kind"], baseline["order"]) for _, nll in measured]
        first = each[0] or {}
        cells = [estimate(first.get("value"), first.get("interval"), warnings=foreign)]
        gains = [(rung["gain"], rung.get("gain_interval")) if rung else (None, None) for rung in each]
        cells += [estimate(gain, bounds, sign=True) for gain, bounds in gains]
        rows.append(Row(baseline["name"], cells, muted=True))
    notes = [
        "A positive gain means that the model needs fewer nats per base than the baseline. "
        "Gains are paired: both are scored on the same bases, and the interval resamples the same blocks."
    ]
    return Table(
        f"baselines-{split}", "The yardstick: what counting gives on the same bases", "Baseline", columns, rows, notes
    )


def find_baseline(nll: Result | None, kind: str, order: int | None = None) -> Result | None:
    """The rung of this kind and order, where the ladder has it."""
    rungs = (nll or {}).get("baselines") or []
    return next((rung for rung in rungs if (rung["kind"], rung["order"]) == (kind, order)), None)


def best_baseline(nll: Result | None) -> Result | None:
    """The rung of the ladder with the lowest NLL."""
    rungs = (nll or {}).get("baselines") or []
    return min(rungs, key=lambda rung: float(rung["value"]), default=None)
