"""A table of who copies from its context: what reading a stretch a second time gains, beside a random stretch's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dnagoat.reporting.cells import estimate, number, row_of
from dnagoat.reporting.comparability import Warnings, bases_of, settings_of
from dnagoat.reporting.numbers import UNKNOWN
from dnagoat.reporting.section import Need, Question, Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

# What stood before the stretch, in the words of the result.
OTHER, COPY, REVERSE = "another stretch", "its copy", "its reverse complement"
KEYS = {COPY: "copy", REVERSE: "complement"}  # of columns


def copying(results: Results, warnings: Warnings, split: str = "test") -> Table | None:
    """Gains over the same stretch after another one, for the shortest and the longest stretch."""
    made = results.having(f"copying-{split}")
    if not made:
        return None
    sizes = sorted({row["length"] for row in made[0][1]["rows"]})
    shown = list(dict.fromkeys((sizes[0], sizes[-1])))
    asked = [(size, stretch, COPY) for size in shown for stretch in ("real", "random")] + [(shown[-1], "real", REVERSE)]
    columns = [
        Column(f"{stretch}_{size}_{KEYS[before]}", f"{size:,} {stretch} bases, {before}", "nats per base gained")
        for size, stretch, before in asked
    ]
    rows = [
        row_of(results, run, [_gain(result, *which) for which in asked], warnings.of(run, "copying"))
        for run, result in made
    ]
    note = (
        f"{counted(made[0][1]['windows'], 'stretch')}, each scored after another stretch, after itself and after its "
        "reverse complement, with the same positions. Who looks earlier occurrences up gains nearly the whole NLL; who "
        "knows the repeats of the training split by heart gains nothing."
    )
    return Table("copying", "Copying from the context", "Model", columns, rows, [note])


def _gain(result: Result, size: int, stretch: str, before: str) -> Cell:
    wanted = (size, stretch, before)
    found = (row for row in result["rows"] if (row["length"], row["stretch"], row["before"]) == wanted)
    row = next(found, None)
    return Cell(UNKNOWN) if row is None else estimate(row["gain"], row["gain_interval"], 3)


def of_results(results: Sequence[Result]) -> Iterator[Table]:
    """A row a stretch: its nats after another one, and how many are saved after itself and its reverse complement."""
    columns = [
        Column("nll", "After another stretch", "nats per base"),
        Column("copy", "Saved after its copy", "nats per base"),
        Column("complement", "Saved after its reverse complement", "nats per base"),
    ]
    for result in results:
        after: dict[tuple[int, str], dict[str, Result]] = {}
        for row in result["rows"]:
            after.setdefault((row["length"], row["stretch"]), {})[row["before"]] = row
        rows = [
            Row(
                f"{size:,} {stretch}",
                [
                    number(found[OTHER]["value"], 3),
                    *(
                        estimate(found[before]["gain"], found[before]["gain_interval"], 3, sign=True)
                        for before in (COPY, REVERSE)
                    ),
                ],
            )
            for (size, stretch), found in after.items()
        ]
        yield Table("copying", f"Copying in {counted(result['windows'], 'stretch')}", "Bases", columns, rows)


COPYING = Section(
    Question.LEARNED,
    may_show=(Need("copying", "test", "copying-test", "copying"),),
    concerns=(settings_of("copying", "copying-test", "Copying"), bases_of("copying", "copying-test", "Copying")),
    details=lambda results, warnings: [copying(results, warnings)],
    of_results=of_results,
)
