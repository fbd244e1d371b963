"""Where a model is good and where not: repeats, CpG, GC content, distance to the window's start, the user's regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dnagoat.reporting.cells import called, estimate, share, warnings_of
from dnagoat.reporting.comparability import Warnings, bases_of, same_bases, settings_of
from dnagoat.reporting.drawing.figure import BANDS, Figure, canvas, legend_above, name_rows, panels_of
from dnagoat.reporting.drawing.marks import draw_band, draw_curve, draw_estimate
from dnagoat.reporting.numbers import UNKNOWN, decimals, listed, percent, whole, with_interval
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

ALONG = ("gc", "distance", "seen")  # groups with an order are lines, all others are rows of dots
Made = list[tuple[RunResults, Result]]


def strata(results: Results, warnings: Warnings, split: str = "test") -> list[Figure | None]:
    """Dots for groups without an order, lines for GC, distance to the window's start and what training has shown."""
    made = results.firsts_having(f"strata-{split}")
    caution = warnings.among([run for run, _ in made], "strata")
    drawn = (_known, _places, _along)
    return [each(results, made, caution) for each in drawn] if made else []


def _places(results: Results, made: Made, caution: tuple[str, ...]) -> Figure:
    styles = looks(results.arms)
    # A BED file may have been given for some runs alone.
    groups = list(dict.fromkeys(each["name"] for _, of in made for each in of["groups"] if each["name"] not in ALONG))
    tallest = max(len(_group(result, name)) for name in groups for _, result in made)
    with drawing():
        rows = -(-len(groups) // 2)
        height = 0.5 + rows * (0.5 + tallest * (0.2 + 0.14 * len(made)))
        figure, axes = panels_of(len(groups), 2, height=height)
        for panel, name in zip(axes, groups, strict=True):
            _panel(panel, made, name, styles)
        legend_above(figure, *_handles(styles, made), most=len(made))
    told = [f"{run.arm} {_by_masking(result)}" for run, result in made[:4]]
    return Figure(
        "strata",
        "Repeats, CpG and other kinds of base",
        reading="Further left is better within a row, which is a kind of base; lines are 95 % intervals.",
        limits="Soft-masked bases are repeats. The panels have scales of their own. Intervals resample blocks of the "
        "genome. Kinds differ in how predictable they are for anybody, so compare models within a row, not rows with "
        "each other. Rare kinds have wide intervals.",
        alt=f"Dot chart of NLL by kind of base. In repeats and outside: {listed(told)} nats per base.",
        drawing=figure,
        warnings=caution,
    )


def _panel(panel: Axes, made: Made, name: str, styles: dict[str, Look]) -> None:
    """One group: a row a stratum, a dot a run."""
    strata = next(found for _, result in made if (found := _group(result, name)))
    gap = 0.62 / max(1, len(made))
    for rank, (run, result) in enumerate(made):
        for place, stratum in enumerate(_group(result, name)):
            height = place + gap * (rank - (len(made) - 1) / 2)
            if stratum["value"] is not None:
                said = _said(run.arm, stratum)
                draw_estimate(panel, stratum["value"], stratum["interval"], height, styles[run.arm], run.arm, said)
    name_rows(panel, [(f"{each['name']}\n{percent(each['share'])} of bases", None) for each in strata])
    panel.locator_params(axis="x", nbins=5)
    panel.set_xlabel("NLL (nats per base)")


def _handles(styles: dict[str, Look], made: Made) -> tuple[list[Line2D], list[str]]:
    from matplotlib.lines import Line2D

    arms = [run.arm for run, _ in made]
    return [Line2D([], [], color=styles[arm].colour, marker=styles[arm].marker, linestyle="") for arm in arms], arms


def _by_masking(result: Result) -> str:
    values = {stratum["name"]: stratum["value"] for stratum in _group(result, "repeats")}
    return f"{decimals(values.get('soft-masked'), 3)} and {decimals(values.get('unique'), 3)}"


def _known(results: Results, made: Made, caution: tuple[str, ...]) -> Figure | None:
    """NLL against how often the training split holds the bases before: by heart on the right, new on the left."""
    # A stratum without a number is of bases that have too few before them.
    read = [(run, [each for each in _group(result, "seen") if each["low"] is not None]) for run, result in made]
    read = [(run, strata) for run, strata in read if strata]
    if not read:
        return None
    styles = looks(results.arms)
    names = [f"{each['name']}\n{percent(each['share'])} of bases" for each in read[0][1]]
    with drawing():
        figure, (axes,) = canvas(height=3.3 + 0.1 * len(read))
        for run, strata in read:
            _line(axes, list(enumerate(strata)), styles[run.arm], run.arm, band=len(read) <= BANDS)
        axes.set_xticks(range(len(names)), names, fontsize=8)
        axes.set_xlim(-0.3, len(names) - 0.7)
        axes.set_xlabel("how often the training split holds the 16 bases before, on either strand")
        axes.set_ylabel("NLL (nats per base)")
        legend_above(figure, *axes.get_legend_handles_labels(), most=4)
    told = [
        f"{run.arm} {decimals(strata[0]['value'], 3)} and {decimals(strata[-1]['value'], 3)}" for run, strata in read
    ]
    return Figure(
        "strata-seen",
        "Known by heart, or not",
        reading="A line that falls to the right is a model that has learned the repeats of its training split; the "
        "left end is what it knows of DNA beyond them.",
        limits="On the left are bases after a word of 16 that the training split never holds, on the right those after "
        "a word that it holds often, as repeat families have them. Bands are 95 % intervals, drawn for few models. A "
        "word that occurs often is easier for anybody, a Markov table too. The figure does not tell copying from the "
        "context from knowledge in the weights; `dnagoat evaluate --what copying` does.",
        alt="Line chart of NLL against occurrences of the preceding 16 bases in training. Where there is none, and at "
        f"the most: {listed(told)} nats per base.",
        drawing=figure,
        warnings=caution,
    )


def _along(results: Results, made: Made, caution: tuple[str, ...]) -> Figure:
    styles = looks(results.arms)
    with drawing():
        figure, (left, right) = canvas(1, 2, height=3.2 + 0.1 * len(made), share_y=True)
        for run, result in made:
            look, band = styles[run.arm], len(made) <= BANDS
            _line(left, [(_middle(each), each) for each in _group(result, "gc")], look, run.arm, band=band)
            _line(right, [(each["low"], each) for each in _group(result, "distance")], look, run.arm, band=band)
        left.set_xlabel("GC of the window (%)")
        right.set_xlabel("bases of context before the base")
        right.set_xscale("symlog", linthresh=1)
        ticks = [tick for tick in (0, 1, 10, 100, 1000, 10_000) if tick <= right.get_xlim()[1]]
        right.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        right.minorticks_off()
        left.set_ylabel("NLL (nats per base)")
        legend_above(figure, *left.get_legend_handles_labels(), most=4)
    return Figure(
        "strata-along",
        "By GC content, and by how much context a base has",
        reading="Lower is better, and a line that keeps falling in the right panel is a model that uses distant bases.",
        limits="Left: one mark a decile of windows, placed at its middle GC. Right: bases by their distance from the "
        "window's start. Bands are 95 % intervals, drawn for few models. Windows of other GC content hold other "
        "sequence, so the left curve is not the effect of GC alone. The first bases of windows are few: expect noise "
        "at the left end of the right panel.",
        alt="Two line charts of NLL: against the GC content of the window, and against the bases of context.",
        drawing=figure,
        warnings=caution,
    )


def _line(panel: Axes, points: list[tuple[float, Result]], look: Look, arm: str, *, band: bool) -> None:
    known = [(x, each) for x, each in points if each["value"] is not None]
    xs = [x for x, _ in known]
    draw_curve(panel, xs, [each["value"] for _, each in known], look, arm, [_said(arm, each) for _, each in known])
    if band:
        draw_band(panel, xs, [each["interval"] for _, each in known], look, arm)


def _said(arm: str, stratum: Result) -> str:
    return f"{arm}, {stratum['name']}: {with_interval(stratum['value'], stratum['interval'])}"


def _group(result: Result, name: str) -> list[dict[str, Any]]:
    return next((list(group["strata"]) for group in result["groups"] if group["name"] == name), [])


def _middle(stratum: Result) -> float:
    """The middle of a stratum of GC shares, in per cent."""
    return 50 * (float(stratum["low"]) + float(stratum["high"]))


def by_stratum(results: Results, warnings: Warnings, split: str = "test") -> Table | None:
    """Every stratum of every model: what the figures of places draw. Models that share no stratum share no row."""
    made = results.having(f"strata-{split}")
    if not made:
        return None
    shared = same_bases([run for run, _ in made], split, "strata")
    foreign = () if shared else ("of the first model that has it",)
    columns = [Column("share", "Share of bases", warnings=foreign), Column("count", "Scored bases", warnings=foreign)]
    columns += [
        Column(f"nll_{run.slug}", called(results, run), "nats per base", warnings=warnings.of(run, "strata"))
        for run, _ in made
    ]
    found = [_strata(result) for _, result in made]
    rows = []
    for group, name in strata_names([result for _, result in made]):
        each = [of_run.get((group, name)) for of_run in found]
        first = next(stratum for stratum in each if stratum is not None)
        counts = [share(first["share"]), Cell(whole(first["count"]), first["count"])]
        rows.append(Row(f"{group}: {name}", [*counts, *map(_stratum, each)], muted=True))
    return Table("strata", "NLL by stratum", "Stratum", columns, rows, warnings_of(results, made))


def strata_names(every: Sequence[Result]) -> list[tuple[str, str]]:
    """The (group, stratum) of all results, groups together; deciles of other bases have other edges and names."""
    names: dict[str, dict[str, None]] = {}
    for result in every:
        for group in result["groups"]:
            names.setdefault(group["name"], {}).update({stratum["name"]: None for stratum in group["strata"]})
    return [(group, name) for group, strata in names.items() for name in strata]


def _strata(result: Result) -> dict[tuple[str, str], Result]:
    return {(group["name"], stratum["name"]): stratum for group in result["groups"] for stratum in group["strata"]}


def _stratum(found: Result | None) -> Cell:
    if found is None or found["value"] is None:
        return Cell(UNKNOWN)
    return estimate(found["value"], found["interval"])


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """A table a group: NLL of each stratum, and what it is over."""
    columns = [
        Column("nll", "NLL", "nats per base"),
        Column("count", "Scored bases"),
        Column("share", "Share"),
        Column("blocks", "Blocks"),
    ]
    for result in results:
        for group in result["groups"]:
            rows = [Row(stratum["name"], [_stratum(stratum), *_extent(stratum)]) for stratum in group["strata"]]
            yield Table(f"strata-{group['name']}", group["question"], group["name"], columns, rows)


def _extent(stratum: Result) -> list[Cell]:
    count, blocks = stratum["count"], stratum.get("blocks")
    return [Cell(whole(count), count), share(stratum["share"]), Cell(whole(blocks), blocks)]


STRATA = Section(
    Question.WHERE,
    needs=(Need("strata", "test", "strata-test", "strata"),),
    concerns=(
        settings_of("strata", "strata-test", "NLL by stratum"),
        bases_of("strata", "strata-test", "NLL by stratum"),
    ),
    figures=strata,
    details=lambda results, warnings: [by_stratum(results, warnings)],
    of_results=of_results,
)
