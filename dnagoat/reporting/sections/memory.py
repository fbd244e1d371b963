"""What memory is worth: the gain of each family, how much is the transformer's, and which source is trusted where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dnagoat.reporting.cells import called, estimate, number, warnings_of
from dnagoat.reporting.comparability import Warnings, bases_of, settings_of
from dnagoat.reporting.drawing.figure import Figure, canvas, legend_above
from dnagoat.reporting.drawing.marks import draw_estimate
from dnagoat.reporting.numbers import UNKNOWN, decimals, listed
from dnagoat.reporting.section import Need, Question, Section, under_own_name
from dnagoat.reporting.sections.baselines import best_baseline
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.reporting.style import MUTED, Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEM = "memory-test"
BEST = "best source alone"
SPOKEN = {
    "as trained": "as trained",
    "transformer": "transformer's logits alone",
    "memory": "memory alone, state of zeros",
}


def spoken(part: Result) -> str:
    return f"without {part['part']}" if part["without"] else SPOKEN[part["part"]]


def source_name(source: Result) -> str:
    """`words of 12`, `words of 16 before 4 bases`, `copies, way 3 of weighing`."""
    if source["family"] == "copies":
        return f"copies, weighed in way {source['way']}"
    of = "own words" if source["family"] == "context" else "words"
    gap = f", a gap of {source['gap']}" if source["gap"] else ""
    return f"{of} of {source['length']}{gap}"


def best_source(result: Result) -> Result:
    source: Result = result["sources"][result["best_source"]]
    return source


def parts(results: Sequence[tuple[str, Result]], notes: Sequence[str] = ()) -> Table:
    """A column a model: NLL as trained and of each part, what that costs below."""
    columns = [Column(f"nll_{place}", name, "nats per base") for place, (name, _) in enumerate(results)]
    names = list(dict.fromkeys(spoken(part) for _, result in results for part in result["parts"]))
    found = [{spoken(part): part for part in result["parts"]} for _, result in results]
    rows = [Row(name, [_part(of_model.get(name)) for of_model in found]) for name in names]
    best = [best_source(result) for _, result in results]
    rows.append(
        Row(
            BEST,
            [estimate(each["value"], each["interval"], under=source_name(each)) for each in best],
            muted=True,
        )
    )
    note = (
        "On the same bases, nothing trained again: a part that a model was trained with is missed more than one that "
        "was never there, so costs of families do not add up. Without a family: as if none of its words had been seen. "
        "Memory alone: the transformer's last state is zeros. The transformer's logits still come from a state that "
        "has read how memory judged the bases before."
    )
    return Table("memory-parts", "What memory is worth", "Model", columns, rows, [note, *notes])


def _part(part: Result | None) -> Cell:
    if part is None:
        return Cell(UNKNOWN)
    cost = "" if part["part"] == "as trained" else f"{decimals(part['cost'], sign=True)} to as trained"
    return estimate(part["value"], part["interval"], under=cost)


def trust(result: Result) -> Table | None:
    """A row a source: its gate and how far it moves the bases apart, in all and by how often its word was seen."""
    rows = result.get("trust")
    if not rows:
        return None
    alone = [source["value"] for source in result.get("sources", [])] or [None] * len(rows)
    columns = [Column("alone", "NLL by itself", "nats per base")] if result.get("sources") else []
    columns += [Column("gate", "mean gate"), Column("nats", "moves bases apart by", "nats")]
    columns += [Column(f"seen_{each['low']}", _seen(each), "gate, nats") for each in rows[0]["seen"]]
    found = []
    for row, value in zip(rows, alone, strict=True):
        cells = [number(value)] if result.get("sources") else []
        cells += [number(row["gate"], 3), number(row["nats"], 3), *map(_trusted, row["seen"])]
        found.append(Row(source_name(row), cells))
    note = (
        "Logits are the sum of gate x log-probability over sources, a small network over all of them, and the "
        "transformer's own. Columns on the right: bases before which the source had seen its word so often, or so many "
        "copies were followed. A gate below 0 takes away what a more informed source says too."
    )
    return Table("memory-trust", "Which source of memory is trusted where", "Source", columns, found, [note])


def _seen(each: Result) -> str:
    low, high = each["low"], each["high"]
    if low == high:
        return "never seen" if low == 0 else "once"
    return f"{low} to {high}" if high else f"{low} times or more"


def _trusted(each: Result) -> Cell:
    if each["gate"] is None:
        return Cell(UNKNOWN)
    return Cell(f"{decimals(each['gate'], 2)}, {decimals(each['nats'], 2)}", each["nats"])


def gains(results: Results, made: list[tuple[RunResults, Result]], caution: tuple[str, ...]) -> Figure:
    """A row a part, a dot a model: NLL as trained, without each family, and of what is left alone."""
    styles = looks(results.arms)
    names = list(dict.fromkeys(spoken(part) for _, result in made for part in result["parts"]))
    names = [*names, BEST]
    baselines = [best for run, result in made if (best := _baseline(run, result))]
    with drawing():
        figure, (axes,) = canvas(height=1.2 + len(names) * (0.22 + 0.12 * len(made)))
        for rank, (run, result) in enumerate(made):
            shift = 0.62 / len(made) * (rank - (len(made) - 1) / 2)
            _dots(axes, names, result, shift, styles[run.arm], run.arm)
        if baselines:
            axes.axvline(baselines[0]["value"], color=MUTED.light, linestyle="--", label=baselines[0]["name"])
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel("NLL (nats per base)")
        legend_above(figure, *axes.get_legend_handles_labels(), most=4)
    told = [f"{run.arm} {decimals(result['value'])}, {_told(result)}" for run, result in made[:4]]
    return Figure(
        "memory",
        "What memory is worth, and how much is the transformer's",
        reading="Further left is better: the first row is the model, a `without` row has lost one family of memory, "
        "and the dashed line is the best of the counts.",
        limits="The other rows are what remains by itself: memory without the transformer's state, the transformer's "
        "own logits, the best single source. Lines are 95 % intervals. Nothing was trained again: a model that had "
        "never had a family would have learned to do without, so the rows say what this model relies on, not what a "
        "family is worth in training.",
        alt=f"Dot chart of NLL by part of memory: {listed(told)} nats per base.",
        drawing=figure,
        warnings=caution,
    )


def _dots(axes: Axes, names: Sequence[str], result: Result, shift: float, look: Look, arm: str) -> None:
    """One model: a dot and its interval on each row that it has."""
    shown = {spoken(part): part for part in result["parts"]} | {BEST: best_source(result)}
    for place, name in enumerate(names):
        if found := shown.get(name):
            said = f"{arm}, {name}: {decimals(found['value'])}"
            draw_estimate(axes, found["value"], found["interval"], place + shift, look, arm, said)
    axes.plot([], [], color=look.colour, marker=look.marker, linestyle="", label=arm)  # for the legend, once


def _told(result: Result) -> str:
    values = {part["part"]: part["value"] for part in result["parts"]}
    return f"memory alone {decimals(values['memory'])}, transformer alone {decimals(values['transformer'])}"


def _baseline(run: RunResults, result: Result) -> Result | None:
    """The best table of counts on the very bases of the measure."""
    nll = run.nll("test")
    return best_baseline(nll) if nll and nll["pieces"] == result["pieces"] else None


def figures(results: Results, warnings: Warnings) -> Iterator[Figure]:
    made = results.firsts_having(STEM)
    if made:
        yield gains(results, made, warnings.among([run for run, _ in made], "families"))


def details(results: Results, warnings: Warnings) -> Iterator[Table | None]:
    made = results.having(STEM)
    if made:
        yield parts([(called(results, run), result) for run, result in made], warnings_of(results, made))
    for run, result in results.firsts_having(STEM):
        table = trust(result)
        yield table and under_own_name(table, run.slug, run.arm)


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    for result in results:
        yield parts([("NLL", result)])
        table = trust(result)
        if table is not None:
            yield table


MEMORY = Section(
    Question.LEARNED,
    needs=(Need("memory", "test", STEM, "families"),),
    concerns=(settings_of("families", STEM, "Memory"), bases_of("families", STEM, "Memory")),
    figures=figures,
    details=details,
    of_results=of_results,
)
