"""Whether more context helps past the training length: NLL of the same bases by context, and NLL by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dnagoat.reporting.cells import estimate, row_of, warnings_of
from dnagoat.reporting.comparability import Warnings, bases_of, same_bases, settings_of
from dnagoat.reporting.drawing.figure import BANDS, CURVE, Figure, canvas, legend_above, thinned
from dnagoat.reporting.drawing.marks import draw_band, draw_curve
from dnagoat.reporting.numbers import UNKNOWN, decimals, listed, whole
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import MUTED, Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def lengths(results: Results, warnings: Warnings, split: str = "test") -> Figure | None:
    """Left: NLL of the same bases with 1x, 2x, ... the training length. Right: NLL along the longest stretches."""
    made = results.firsts_having(f"lengths-{split}")
    if not made:
        return None
    styles = looks(results.arms)
    trained = sorted({result["training_length"] for _, result in made})
    scored = sorted({row["length"] for _, result in made for row in result["lengths"]})
    figure = _draw_curves(made, trained, scored, styles)
    ends = [
        f"{run.arm} {decimals(result['lengths'][0]['value'])} at {whole(result['lengths'][0]['length'])} and "
        f"{decimals(result['lengths'][-1]['value'])} at {whole(result['lengths'][-1]['length'])} bases"
        for run, result in made[:6]
    ]
    first = made[0][1]
    return Figure(
        "context-length",
        "Does context beyond the training length help or hurt?",
        reading="A line of the left panel that climbs past the dotted training length is a scheme that is hurt by more "
        "context than it was trained with.",
        limits="Left: the very same bases, scored with more and more context before them. Right: NLL along the "
        f"longest stretches. Bands are 95 % intervals, drawn for few models. {counted(first['windows'], 'stretch')}, "
        "so the bands are wide; what matters is each line against its own beginning, since the bases are the same. On "
        "the right, other positions hold other bases: the wiggles are genome, not model, and models are to be "
        "compared at the same position.",
        alt=f"Line charts of NLL: {listed(ends)}.",
        drawing=figure,
        warnings=warnings.among([run for run, _ in made], "lengths"),
    )


def _draw_curves(
    made: list[tuple[RunResults, Result]], trained: Sequence[int], scored: Sequence[int], styles: dict[str, Look]
) -> Drawing:
    """Left: NLL at each context length of `scored`; right: along the longest stretch; `trained` are marked."""
    with drawing():
        figure, (left, right) = canvas(1, 2, height=3.3 + 0.1 * len(made), share_y=True)
        for run, result in made:
            look = styles[run.arm]
            rows, along = result["lengths"], result["positions"]
            xs = [row["length"] for row in rows]
            said = [f"{run.arm}, {row['length']:,} bases: {decimals(row['value'])}" for row in rows]
            draw_curve(left, xs, [row["value"] for row in rows], look, run.arm, said)
            along = [along[place] for place in thinned(len(along), CURVE)]
            middle = [(row["from"] + row["to"]) / 2 for row in along]
            draw_curve(right, middle, [row["value"] for row in along], look, run.arm, (), marker="", linewidth=1.2)
            if len(made) <= BANDS:
                draw_band(left, xs, [row["interval"] for row in rows], look, run.arm)
                draw_band(right, middle, [row["interval"] for row in along], look, run.arm)
        left.set_xscale("log", base=2)
        one = trained[0] if len(trained) == 1 else None  # a multiple of several training lengths would be ambiguous
        names = [f"{x:,}\n{x / one:g}x" if one else f"{x:,}" for x in scored]
        left.set_xticks(scored, names, fontsize=9 if len(scored) < 6 else 8)
        left.set_xlabel(f"context length (bases{', times the training length' if one else ''})")
        left.minorticks_off()
        for panel in (left, right):
            for training in trained:
                panel.axvline(training, color=MUTED.light, linewidth=1, linestyle=":")
        right.set_xlabel("position in the longest stretch (bases)")
        right.locator_params(axis="x", nbins=4)
        right.xaxis.set_major_formatter("{x:,.0f}")
        left.set_ylabel("NLL (nats per base)")
        legend_above(figure, *left.get_legend_handles_labels(), most=4)
    return figure


def by_length(results: Results, warnings: Warnings, split: str = "test") -> Table | None:
    """NLL of the same bases at each context length that any run was scored on."""
    made = results.having(f"lengths-{split}")
    if not made:
        return None
    once = {result["training_length"] for _, result in made}
    lengths = sorted({row["length"] for _, result in made for row in result["lengths"]})
    columns = [
        Column(f"b{length}", f"{length:,}{f' ({length / min(once):g}x)' if len(once) == 1 else ''}", "nats per base")
        for length in lengths
    ]
    rows = []
    for run, result in made:
        found = {row["length"]: row for row in result["lengths"]}
        cells = [_length(found.get(length)) for length in lengths]
        rows.append(row_of(results, run, cells, warnings.of(run, "lengths")))
    shared = same_bases([run for run, _ in made], split, "lengths")
    same = counted(made[0][1]["lengths"][0]["count"], "base") if shared else "bases of a model's own"
    note = f"The same {same} in every column; only the context before them changes."
    return Table("context-length", "NLL by context length", "Model", columns, rows, [note, *warnings_of(results, made)])


def _length(row: Result | None) -> Cell:
    return Cell(UNKNOWN) if row is None else estimate(row["value"], row["interval"])


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """NLL by length of context, and what the context gains over the shortest."""
    columns = [Column("nll", "NLL", "nats per base"), Column("gain", "Gain", "nats per base")]
    for result in results:
        title = f"The same {result['count']:,} bases with more context (trained with {result['training_length']:,})"
        rows = [
            Row(
                whole(row["length"]),
                [estimate(row["value"], row["interval"]), estimate(row["gain"], row["gain_interval"], sign=True)],
            )
            for row in result["lengths"]
        ]
        yield Table("lengths", title, "Context", columns, rows)


LENGTHS = Section(
    Question.BEYOND,
    needs=(Need("lengths", "test", "lengths-test", "lengths"),),
    concerns=(
        settings_of("lengths", "lengths-test", "NLL by length"),
        bases_of("lengths", "lengths-test", "NLL by length"),
    ),
    figures=lambda results, warnings: [lengths(results, warnings)],
    details=lambda results, warnings: [by_length(results, warnings)],
    of_results=of_results,
)
