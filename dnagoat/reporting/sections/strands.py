"""Whether a model treats the two strands of DNA alike: the difference in NLL between a window and its complement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnagoat.reporting.cells import estimate
from dnagoat.reporting.drawing.figure import Figure, canvas, legend_above
from dnagoat.reporting.drawing.marks import mark
from dnagoat.reporting.numbers import decimals, interval, listed
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import MUTED, drawing, looks
from dnagoat.reporting.table import Column, Row, Table
from dnagoat.wording import counted


def gap(results: Results, split: str = "test") -> Figure | None:
    """The distribution of NLL(x) - NLL(rc x) over windows, one outline a run."""
    made = results.firsts_having(f"rc-{split}")
    if not made:
        return None
    styles = looks(results.arms)
    with drawing():
        figure, (axes,) = canvas(height=2.8 + 0.1 * len(made))
        for run, result in made:
            counts, edges = result["histogram"]["counts"], result["histogram"]["edges"]
            density = [count / (sum(counts) * (edges[1] - edges[0])) for count in counts]
            look = styles[run.arm]
            outline = axes.stairs(density, edges, color=look.colour, linestyle=look.dash, linewidth=1.6, label=run.arm)
            mark(outline, run.arm, f"{run.arm}: {decimals(result['value'])} on average")
        axes.axvline(0, color=MUTED.light, linewidth=0.9)
        axes.set_xlabel("NLL of a window minus that of its reverse complement (nats per base)")
        axes.set_ylabel("windows (density)")
        legend_above(figure, *axes.get_legend_handles_labels(), most=4)
    told = [f"{run.arm} {decimals(result['value'])} ({interval(result['interval'])})" for run, result in made]
    return Figure(
        "strand-gap",
        "Do both strands of the same DNA cost the same?",
        reading="Narrow and centred on 0 is good: the model has learned that either strand is DNA.",
        limits="A narrow curve does not make a model good, only even-handed.",
        alt=f"Histogram outlines. Mean absolute difference in nats per base: {listed(told)}.",
        drawing=figure,
    )


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
