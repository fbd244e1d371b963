"""How far ahead each model is while it trains: validation NLL minus the first arm's after as many bases."""

from __future__ import annotations

from collections.abc import Iterator

from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.drawing.figure import CURVE, Figure, canvas, legend_above, thinned
from dnagoat.reporting.drawing.marks import draw_curve
from dnagoat.reporting.numbers import decimals, listed
from dnagoat.reporting.section import Question, Section
from dnagoat.reporting.sources import Results, RunResults
from dnagoat.reporting.style import drawing, looks
from dnagoat.training.kept.learning_curve import validations

FEWEST = 3  # points of a curve
Curve = list[tuple[int, float]]  # bases read, nats per base


def lead(results: Results, warnings: Warnings) -> Figure | None:
    """A line a run of every arm but the first, against the run of the first arm that has its seed."""
    curves = list(_curves(results))
    if not curves:
        return None
    first, styles = results.runs[0].arm, looks(results.arms)
    with drawing():
        figure, (axes,) = canvas(height=3.2)
        axes.axhline(0, color=styles[first].colour, linewidth=1, label=first)
        for run, curve in curves:
            curve = [curve[place] for place in thinned(len(curve), CURVE)]
            millions, ahead = [bases / 1e6 for bases, _ in curve], [value for _, value in curve]
            said = [
                f"{run.arm}, seed {run.seed}, {at:.2f} M bases: {decimals(value, sign=True)}"
                for at, value in zip(millions, ahead, strict=True)
            ]
            draw_curve(axes, millions, ahead, styles[run.arm], run.arm, said)
        axes.set_xlim(left=0)
        axes.set_xlabel("bases read in training (millions)")
        axes.set_ylabel(f"NLL minus {first}'s (nats per base)")
        lines = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
        legend_above(figure, list(lines.values()), list(lines), most=4)
    ends = [f"{run.arm} (seed {run.seed}) ended at {decimals(curve[-1][1], sign=True)}" for run, curve in curves[:6]]
    return Figure(
        "lead",
        "Does the lead grow or shrink?",
        reading=f"Below 0 a model is ahead of {first} after as many bases, and a line that climbs back to 0 is a head "
        "start that is used up.",
        limits=f"A line a seed, on {results.runs[0].config.train.eval_windows} validation windows, without intervals: "
        "how far the lines of one arm lie apart is what seeds do. The rate falls towards the end of each run, and how "
        "far it has fallen differs from a shorter training after as many bases.",
        alt=f"Line chart of the difference to {first} on validation against bases read. In nats per base, "
        f"{listed(ends)}.",
        drawing=figure,
        warnings=warnings.among([run for run, _ in curves], "val"),
    )


def _curves(results: Results) -> Iterator[tuple[RunResults, Curve]]:
    """Each run that was validated on the windows of its reference, after as many bases, often enough."""
    if not results.runs:
        return
    references = {run.seed: run for run in reversed(results.of(results.runs[0].arm))}
    for run in results.runs:
        reference = references.get(run.seed)
        if reference is None or run.arm == reference.arm or _windows(run) != _windows(reference):
            continue
        base = dict(validations(reference.metrics))
        curve = [(bases, value - base[bases]) for bases, value in validations(run.metrics) if bases in base]
        if len(curve) >= FEWEST:
            yield run, curve


def _windows(run: RunResults) -> tuple[str, int, int, int]:
    """What the windows of validation depend on."""
    config = run.config
    return config.dataset_hash, config.model.context, config.model.classes, config.train.eval_windows


LEAD = Section(Question.SOON, figures=lambda results, warnings: [lead(results, warnings)])
