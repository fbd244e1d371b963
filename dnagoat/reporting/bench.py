"""What `dnagoat bench` measured, as one table: every row of the file, also those that ended without a number."""

from __future__ import annotations

from dnagoat.reporting.numbers import UNKNOWN, gibibytes, whole
from dnagoat.reporting.results import Result, Results
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted

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


def table(results: Results) -> Table | None:
    """Speed with its spread, the peaks, the kernel that ran and the outcome; published figures below ours."""
    if not results.bench:
        return None
    columns = [
        Column("setting", "Setting", numeric=False),
        Column("kernel_ran", "Kernel that ran", numeric=False),
        Column("tokens_per_second", "Speed", "bases per second"),
        *(Column(key, head) for key, head in PEAKS.items()),
        Column("outcome", "Outcome", numeric=False),
    ]
    rows = [_row(row) for bench in results.bench for row in bench["rows"]]
    published = [known for bench in results.bench for known in bench.get("published", [])]
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
        Cell(outcome, outcome, under=repeats, warning=row.get("why", "")),
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
        Cell("published", "published"),
    ]
    return Row(f"{known['arm']}, published", cells, muted=True)


def _spread(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{whole(low)} to {whole(high)}"
