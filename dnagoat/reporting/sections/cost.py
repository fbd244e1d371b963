"""What each model costs: speed and peak memory of training as it ran, and of a benchmark, every row of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dnagoat.reporting.cells import row_of, word
from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.drawing.figure import Figure, canvas, name_rows
from dnagoat.reporting.drawing.marks import Bounds, draw_estimate, mark
from dnagoat.reporting.numbers import GIB, UNKNOWN, gibibytes, large, listed, whole
from dnagoat.reporting.section import Question, Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {
    "cuda_allocated_peak": "peak CUDA memory, allocated (GiB)",
    "resident_peak": "peak resident memory of the process (GiB)",
}
PEAKS = {
    "cuda_allocated_peak": "Peak CUDA memory, allocated",
    "cuda_reserved_peak": "Peak CUDA memory, reserved",
    "resident_peak": "Peak resident memory of the process",
}
CAVEAT = (
    "Published: the GOAT authors' own figures for their genome run on one A100 (arXiv 2601.15380), another machine and "
    "another program. Their peak for RoPE was read after a benchmark that ran a quadratic kernel too, so it is no "
    "measure of RoPE; and whether their peaks are of allocated or of reserved memory is not said."
)


def setting_of(row: Result) -> str:
    """What rows that may be compared have in common; the kernel is said where it was chosen."""
    named = f"{row['what']}, {row['batch']:,} x {row['length']:,} bases, {row['precision']}, {row['device']}"
    return named if row["kernel"] == "auto" else f"{named}, kernel {row['kernel']}"


def outcome_of(row: Result) -> str:
    """`ok`, or how it ended: at once, or in a later round after numbers of earlier ones."""
    ended = str(row["outcome"])
    return ended if ended == "ok" or row["tokens_per_second"] is None else f"{ended} in round {row['rounds']}"


def benchmark(benches: Sequence[Result]) -> Table | None:
    """Speed with its spread, the peaks, the kernel that ran and the outcome; published figures below ours."""
    if not benches:
        return None
    columns = [
        Column("setting", "Setting", numeric=False),
        Column("kernel_ran", "Kernel that ran", numeric=False),
        Column("tokens_per_second", "Speed", "bases per second"),
        *(Column(key, head) for key, head in PEAKS.items()),
        Column("outcome", "Outcome", numeric=False),
    ]
    rows = [_row(row) for bench in benches for row in bench["rows"]]
    published = [known for bench in benches for known in bench.get("published", [])]
    rows += [_published(known) for known in dict(zip(map(str, published), published, strict=True)).values()]
    notes = [
        "Speed is the median of all repeats, in fresh processes and in turn with the other arms; below it stand the "
        "slowest and the fastest repeat. Peaks are after warm-up."
    ]
    return Table("bench", "The benchmark", "Arm", columns, rows, [*notes, *([CAVEAT] if published else [])])


def _row(row: Result) -> Row:
    low, high = row.get("tokens_per_second_spread") or (None, None)
    name, threads = row.get("device_name"), row.get("threads")
    machine = (counted(threads, "thread") if name == "cpu" else name) if name else ""
    repeats = f"{counted(row['rounds'], 'round')} of {counted(row['repeats'], 'repeat')}"
    outcome = outcome_of(row)
    cells = [
        Cell(setting_of(row), setting_of(row), under=machine),
        Cell(row.get("kernel_ran") or UNKNOWN, row.get("kernel_ran")),
        Cell(whole(row["tokens_per_second"]), row["tokens_per_second"], low, high, _spread(low, high)),
        *(Cell(gibibytes(row[peak]), row[peak]) for peak in PEAKS),
        Cell(outcome, outcome, under="\n".join(filter(None, [repeats, row.get("why")]))),
    ]
    return Row(str(row.get("peer") or row["arm"]), cells, arm=row["arm"])


def _published(known: Result) -> Row:
    speed, peak = known["tokens_per_second"], known["cuda_peak"]
    cells = [
        Cell("the authors' genome run, one A100", "published"),
        Cell(UNKNOWN),
        Cell(whole(speed), speed),
        Cell(gibibytes(peak), peak, under=f"{peak / 1e9:.2f} GB as published"),
        Cell(UNKNOWN),
        Cell(UNKNOWN),
        word("published"),
    ]
    return Row(f"{known['arm']}, published", cells, muted=True)


def _spread(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{whole(low)} to {whole(high)}"


def trained(results: Results, warnings: Warnings) -> Table:
    """What each model needed: weights, bases read, speed, memory of device and process."""
    columns = [
        Column("parameters", "Weights"),
        Column("bases", "Bases read in training"),
        Column("tokens_per_second", "Training speed", "bases per second"),
        Column("cuda_allocated", "Peak CUDA memory, allocated"),
        Column("cuda_reserved", "Peak CUDA memory, reserved"),
        Column("resident", "Peak resident memory of the process"),
    ]
    rows = []
    for run in results.scored:
        parameters, bases, speed = run.parameters, run.last("bases"), run.speed
        allocated, reserved = run.peak("cuda_allocated_peak"), run.peak("cuda_reserved_peak")
        resident = run.peak("resident_peak")
        cells = [
            Cell(large(parameters), parameters, warnings=warnings.of(run, "parameters")),
            Cell(large(bases), bases, warnings=warnings.of(run, "bases")),
            Cell(whole(speed), speed, warnings=warnings.of(run, "speed")),
            _memory(allocated, warnings.of(run, "memory"), unknown="no GPU"),
            _memory(reserved, warnings.of(run, "memory"), unknown="no GPU"),
            _memory(resident, warnings.of(run, "memory")),
        ]
        rows.append(row_of(results, run, cells))
    notes = [
        "Speed is the median over the steps of training as it ran, evaluation left out. Resident memory is that of the "
        "whole process, Python and libraries included: it is not comparable with CUDA memory."
    ]
    return Table("cost", "What it cost", "Model", columns, rows, notes)


def _memory(peak: int | None, warnings: tuple[str, ...], unknown: str = "") -> Cell:
    return Cell(gibibytes(peak), peak, warnings=warnings) if peak else Cell(UNKNOWN, under=unknown)


def costs(results: Results) -> list[Figure | None]:
    """One figure a setting of the benchmark; without one, a figure of training itself."""
    rows = [row for bench in results.bench for row in bench["rows"]]
    settings = list(dict.fromkeys(map(setting_of, rows)))
    if settings:
        return [
            _draw(results, [row for row in rows if setting_of(row) == setting], f"cost-{place + 1}", setting, True)
            for place, setting in enumerate(settings)
        ]
    trained = [
        {"arm": run.arm, "tokens_per_second": run.speed, **{kind: run.peak(kind) for kind in KINDS}}
        for run in results.firsts
    ]
    return [_draw(results, trained, "cost", "training as it ran", False)]


def _draw(results: Results, rows: list[Result], name: str, setting: str, measured: bool) -> Figure | None:
    if all(row["tokens_per_second"] is None for row in rows):
        return None
    kind = "cuda_allocated_peak" if any(row["cuda_allocated_peak"] for row in rows) else "resident_peak"
    # An arm of the benchmark is a scheme.
    styles = looks({**results.arms, **{row["arm"]: row["arm"] for row in rows if row["arm"] not in results.arms}})
    with drawing():
        figure, (left, right) = canvas(1, 2, height=0.85 + 0.34 * len(rows), share_y=True)
        for place, row in enumerate(rows):
            look, spread = styles[row["arm"]], row.get("tokens_per_second_spread")
            _draw_number(left, place, row["tokens_per_second"], spread, _said(row), row["arm"], look)
            peak = row[kind] / GIB if row[kind] else None
            _draw_number(right, place, peak, None, f"{peak:.2f}" if peak else UNKNOWN, row["arm"], look)
        left.set_xlabel("speed (bases per second)")
        right.set_xlabel(KINDS[kind])
        for panel in (left, right):
            name_rows(panel, [(row["arm"], row["arm"]) for row in rows])
            panel.set_xlim(0, panel.get_xlim()[1] * 1.25)
            panel.locator_params(axis="x", nbins=4)
        left.xaxis.set_major_formatter(lambda speed, _: large(speed))
    told = [f"{row['arm']} {_said(row)}" for row in rows]
    how = (
        "Each arm ran in fresh processes of its own, in turn with the others; the line is the spread of the repeats. "
        "It holds for this machine and this size."
        if measured
        else "Neighbours on the machine and the order of the runs are in these numbers; `dnagoat bench` measures arms "
        "in turn, in fresh processes."
    )
    if kind == "resident_peak":
        how += " There was no GPU: resident memory counts Python and its libraries, and says little about the GPU."
    return Figure(
        name,
        f"Speed and memory: {setting}",
        reading="Left: further right is faster; right: further left needs less memory.",
        limits=how,
        alt=f"Dots of speed and memory. Bases per second: {listed(told)}.",
        drawing=figure,
    )


def _said(row: Result) -> str:
    """The speed; how the row ended where it has none, or where a later round did not end well."""
    speed, outcome = row["tokens_per_second"], outcome_of(row) if "outcome" in row else "ok"
    if speed is None:
        return UNKNOWN if outcome == "ok" else outcome
    return whole(speed) if outcome == "ok" else f"{whole(speed)}\n{outcome}"


def _draw_number(panel: Axes, place: int, value: float | None, spread: Bounds, said: str, arm: str, look: Look) -> None:
    """A dot with its spread and its words; the words alone where there is no number."""
    if value:
        draw_estimate(panel, value, spread, place, look, arm, f"{arm}: {said}")
    end = max([value or 0.0, *(spread or [])])
    words = panel.annotate(said, (end, place), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8.5)
    mark(words, arm)


def tables(results: Results, warnings: Warnings) -> Iterator[Table | None]:
    if results.runs:
        yield trained(results, warnings)
    yield benchmark(results.bench)


COST = Section(
    Question.COST,
    tables=tables,
    figures=lambda results, warnings: costs(results) if results.runs else [],
)
