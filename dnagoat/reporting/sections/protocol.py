"""The GOAT authors' protocol, in a table of its own: its numbers stand beside no other's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnagoat.reporting.cells import number, row_of, warnings_of
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Column, Row, Table
from dnagoat.wording import counted

STEM = "protocol-paper"
TITLE = "The GOAT authors' own protocol"


def protocol(results: Results) -> Table | None:
    """What each run scored in it, at its end and at best, beside what the authors published."""
    made = [(run, run.measures[STEM]) for run in results.runs if STEM in run.measures]
    if not made:
        return None
    columns = [
        Column("value", "NLL, N scored", "nats per symbol"),
        Column("best", "Best of the evaluations", "nats per symbol"),
        Column("published", "Published", "nats per symbol"),
    ]
    rows = []
    for run, found in made:
        published = found["published"].get(run.config.model.position.name)
        cells = [number(value) for value in (found["value"], found["best_of_evaluations"], published)]
        rows.append(row_of(results, run, cells))
    return Table(STEM, TITLE, "Model", columns, rows, warnings_of(results, made))


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """The run's two numbers above those that the authors published."""
    for result in results:
        batches = f"{counted(result['batches'], 'batch')} of {counted(result['batch_size'], 'validation window')}"
        each = f", {counted(result['evaluation_windows'], 'window')} each" if "evaluation_windows" in result else ""
        numbers = {batches: result["value"]}
        numbers[f"best of the evaluations while training{each}"] = result["best_of_evaluations"]
        numbers |= {f"published, {name}": value for name, value in result["published"].items()}
        rows = [Row(said, [number(value)]) for said, value in numbers.items()]
        note = "Not comparable with the numbers of other tables: N is scored, and one symbol more is told apart."
        yield Table(STEM, TITLE, "What", [Column("nll", "NLL", "nats per symbol")], rows, [note])


PROTOCOL = Section(
    Question.TRUST,
    may_show=(Need("protocol-paper", "val", STEM),),
    details=lambda results, warnings: [protocol(results)],
    of_results=of_results,
)
