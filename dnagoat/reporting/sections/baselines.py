"""The yardstick: what counting gives on exactly the bases that the models were scored on, as a ladder and a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dnagoat.reporting.cells import called, estimate
from dnagoat.reporting.comparability import Warnings, same_bases
from dnagoat.reporting.drawing.figure import Figure, canvas
from dnagoat.reporting.drawing.room import broken
from dnagoat.reporting.numbers import decimals, listed
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import MUTED, PAPER, TEXT, Look, drawing, looks
from dnagoat.reporting.table import Column, Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

LONGEST = 34  # letters of a model's name before it is broken
UNIFORM = math.log(4)  # nats per base of a guess that knows nothing
COUNTS = (
    "Grey bars are counts: order-k Markov tables of the training split, and a copier that predicts from the last "
    "occurrence of the preceding 20 bases, on exactly the same bases."
)
NO_COUNTS = (
    "No baselines are drawn: these models were scored on different bases, and each has gains of its own in the table "
    "of baselines."
)
PAIRED = (
    "Overlapping intervals do not mean that two models are equal: they are scored on the same bases, so the paired "
    "difference decides."
)
UNPAIRED = "The bars are over different bases, so their lengths do not say which model is better."


def ladder(results: Results, warnings: Warnings, split: str = "test") -> Figure | None:
    """Horizontal bars from the uniform guess (1.386 nats) down to each NLL: the length is what was learned.

    Counts are drawn where all runs were scored on the same bases; no bar would hold for several otherwise.
    """
    scored = [(run, run.nll(split)) for run in results.scored]
    measured = [(run, nll) for run, nll in scored if nll is not None]
    if not measured:
        return None
    styles = looks(results.arms)
    bars: list[tuple[str, Any, Look | None]] = [
        (broken(_called(run, results), LONGEST), nll, styles[run.arm]) for run, nll in measured
    ]
    runs = [run for run, _ in measured]
    shared = same_bases(runs, split)
    ladders = [nll["baselines"] for _, nll in measured if nll.get("baselines")]
    baselines = ladders[0] if ladders and shared else []
    bars += [(baseline["name"], baseline, None) for baseline in baselines]
    figure = _draw_bars(bars, split)
    best = min(baselines, key=lambda each: float(each["value"]), default=None)
    told = [f"{_called(run, results)} {decimals(nll['value'])}" for run, nll in measured[:8]]
    against = f" The best baseline, {best['name']}, has {decimals(best['value'])}." if best else ""
    return Figure(
        f"nll-{split}",
        "What each model learned, beside what counting gives",
        "Likelihood",
        reading="A longer bar is better: it runs from a uniform guess to the NLL reached. The thin line is the 95 % "
        f"interval from resampling blocks of the genome. {COUNTS if shared else NO_COUNTS}",
        limits=f"{PAIRED if shared else UNPAIRED} The interval covers which stretches of genome were drawn, not the "
        f"training seed.{warnings.caption(runs, split)}",
        alt=f"Bar chart of NLL on the {split} split in nats per base: {listed(told)}.{against}",
        drawing=figure,
    )


def _draw_bars(bars: list[tuple[str, Any, Look | None]], split: str) -> Drawing:
    """A bar a name and result, with the look of its arm where it is a model's."""
    with drawing():
        lines = max(name.count("\n") + 1 for name, _, _ in bars)
        figure, (axes,) = canvas(height=0.9 + (0.08 + 0.14 * lines) * len(bars))
        values = [bar[1]["value"] for bar in bars]
        span = UNIFORM - min(values)
        for place, (_, result, look) in enumerate(bars):
            value, bounds = result["value"], result.get("interval")
            axes.barh(
                place,
                value - UNIFORM,
                left=UNIFORM,
                height=0.68,
                color=look.colour if look else MUTED.light,
                hatch=look.hatch if look else None,
                edgecolor=PAPER.light,
                linewidth=0,
                zorder=2,
            )
            if bounds:
                # A pale line around the dark one: it is also seen on a dark bar.
                for colour, width in ((PAPER.light, 3), (TEXT.light, 1.2)):
                    axes.plot(bounds, [place, place], color=colour, linewidth=width, zorder=3, solid_capstyle="butt")
            axes.text(UNIFORM + 0.015 * span, place, decimals(value), va="center", fontsize=8.5)
        axes.set_yticks(range(len(bars)), [bar[0] for bar in bars])
        for label, bar in zip(axes.get_yticklabels(), bars, strict=True):
            label.set_fontweight("bold" if bar[2] else "normal")
        axes.set_ylim(len(bars) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        lowest = min([*values, *(bar[1]["interval"][0] for bar in bars if bar[1].get("interval"))])
        axes.set_xlim(lowest - 0.02 * span, max(UNIFORM, *values) + 0.13 * span)
        axes.set_xlabel(f"NLL on the {split} split (nats per base)\nbars start at 1.386, a uniform guess")
    return figure


def _called(run: Any, results: Results) -> str:
    return run.arm if len(results.of(run.arm)) == 1 else f"{run.arm}, seed {run.seed}"


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
    for baseline in measured[0][1]["baselines"]:
        each = [find_baseline(nll, baseline["kind"], baseline["order"]) for _, nll in measured]
        first = each[0] or {}
        cells = [estimate(first.get("value"), first.get("interval"), warning=foreign)]
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
