"""Whether a model treats the two strands of DNA alike: the difference in NLL between a window and its complement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnagoat.reporting.cells import estimate
from dnagoat.reporting.drawing.figure import Figure, canvas, name_rows
from dnagoat.reporting.drawing.marks import draw_estimate, mark
from dnagoat.reporting.numbers import decimals, listed, with_interval
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Column, Row, Table
from dnagoat.wording import counted


def gap(results: Results, split: str = "test") -> Figure | None:
    """NLL(x) - NLL(rc x) of windows, a row a model: the mean with its interval, and how far most windows lie."""
    made = results.firsts_having(f"rc-{split}")
    if not made:
        return None
    styles = looks(results.arms)
    with drawing():
        figure, (panel,) = canvas(height=1.2 + 0.36 * len(made))
        panel.axvline(0, color=MUTED.light, linewidth=1, zorder=1)
        for place, (run, result) in enumerate(made):
            low, high = _most(result)
            words = f"{run.arm}: nine of ten windows from {decimals(low, sign=True)} to {decimals(high, sign=True)}"
            (line,) = panel.plot((low, high), (place, place), color=styles[run.arm].colour, linewidth=6, alpha=0.3)
            line.set_solid_capstyle("butt")
            mark(line, run.arm, words)
            value, bounds = result["signed"]["value"], result["signed"]["interval"]
            said = f"{run.arm}: {with_interval(value, bounds, sign=True)} on average"
            draw_estimate(panel, value, bounds, place, styles[run.arm], run.arm, said)
        name_rows(panel, [(run.arm, run.arm) for run, _ in made])
        panel.set_xlabel("NLL of a window minus that of its reverse complement (nats per base)")
    told = [f"{run.arm} {with_interval(result['value'], result['interval'])}" for run, result in made]
    return Figure(
        "strand-gap",
        "Do both strands of the same DNA cost the same?",
        reading="Narrow and about 0 is good, since either strand is DNA: the pale line holds nine of ten windows, and "
        "the mark is their mean with its 95 % interval over blocks of the genome.",
        limits="A narrow line does not make a model good, only even-handed.",
        alt=f"Dots with intervals and ranges. Mean absolute difference of a window in nats per base: {listed(told)}.",
        drawing=figure,
    )


def _most(result: Result) -> tuple[float, float]:
    """Between which differences nine of ten windows lie."""
    found = {row["q"]: float(row["value"]) for row in result["quantiles"]}
    return found[0.05], found[0.95]


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """The difference between the strands, with and without its sign, and the NLL averaged over both."""
    for result in results:
        average, signed = result["rc_average"], result["signed"]
        rows = [
            Row("mean |NLL(x) - NLL(rc x)| of a window", [estimate(result["value"], result["interval"])]),
            Row("mean NLL(x) - NLL(rc x)", [estimate(signed["value"], signed["interval"], sign=True)]),
            Row("NLL, mean of both strands", [estimate(average["value"], average["interval"])]),
        ]
        title = f"Both strands of {counted(result['windows'], 'window')}"
        yield Table("strands", title, "What", [Column("nats", "Nats per base")], rows)


STRANDS = Section(
    Question.WHERE,
    may_show=(Need("rc", "test", "rc-test"),),
    figures=lambda results, warnings: [gap(results)],
    of_results=of_results,
)
