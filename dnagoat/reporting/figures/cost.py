"""What each arm costs: speed and peak memory, from a benchmark where there is one, else from training as it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dnagoat.reporting.bench import outcome_of, setting_of
from dnagoat.reporting.figures.figure import Figure, canvas
from dnagoat.reporting.figures.room import broken
from dnagoat.reporting.numbers import GIB, UNKNOWN, large, listed, whole
from dnagoat.reporting.results import Result, Results
from dnagoat.reporting.style import PAPER, TEXT, Look, drawing, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 24  # letters of an arm's name before it is broken
KINDS = {
    "cuda_allocated_peak": "peak CUDA memory, allocated (GiB)",
    "resident_peak": "peak resident memory of the process (GiB)",
}


def cost(results: Results) -> list[Figure | None]:
    """One figure a setting of the benchmark; without one, a figure of training itself."""
    rows = [row for bench in results.bench for row in bench["rows"]]
    settings = list(dict.fromkeys(map(setting_of, rows)))
    if settings:
        return [
            _bars(results, [row for row in rows if setting_of(row) == setting], f"cost-{place + 1}", setting, True)
            for place, setting in enumerate(settings)
        ]
    trained = [
        {"arm": run.arm, "tokens_per_second": run.speed, **{kind: run.peak(kind) for kind in KINDS}}
        for run in results.firsts
    ]
    return [_bars(results, trained, "cost", "training as it ran", False)]


def _bars(results: Results, rows: list[Result], name: str, setting: str, measured: bool) -> Figure | None:
    if all(row["tokens_per_second"] is None for row in rows):
        return None
    kind = "cuda_allocated_peak" if any(row["cuda_allocated_peak"] for row in rows) else "resident_peak"
    styles = looks(list(dict.fromkeys([*results.arms, *(row["arm"] for row in rows)])))
    with drawing():
        figure, (left, right) = canvas(1, 2, height=0.85 + 0.34 * len(rows), share_y=True)
        for place, row in enumerate(rows):
            look = styles[row["arm"]]
            speed, memory = row["tokens_per_second"] or 0.0, (row[kind] or 0) / GIB
            low, high = row.get("tokens_per_second_spread") or (speed, speed)
            left.plot([low, high], [place, place], color=TEXT.light, linewidth=1.2, zorder=3)
            _bar(left, place, speed, max(speed, high), _said(row), look)
            _bar(right, place, memory, memory, f"{memory:.2f}" if memory else UNKNOWN, look)
        left.set_yticks(range(len(rows)), [broken(row["arm"], LONGEST) for row in rows])
        left.set_ylim(len(rows) - 0.5, -0.5)
        left.set_xlabel("speed (bases per second)")
        right.set_xlabel(KINDS[kind])
        for panel in (left, right):
            panel.grid(axis="y", visible=False)
            panel.tick_params(axis="y", length=0)
            panel.set_xlim(0, panel.get_xlim()[1] * 1.2)
            panel.locator_params(axis="x", nbins=4)
        left.xaxis.set_major_formatter(lambda speed, _: large(speed))
    told = [f"{row['arm']} {_said(row)}" for row in rows]
    how = (
        "Each arm ran in fresh processes of its own, in turn with the others; the line is the spread of the repeats."
        if measured
        else "Read from training itself: the median over its steps, and the peak of the whole run."
    )
    limits = (
        "Holds for this machine and this size."
        if measured
        else "Neighbours on the machine and the order of the runs are in these numbers; `dnagoat bench` measures arms "
        "in turn, in fresh processes."
    )
    if kind == "resident_peak":
        limits += " There was no GPU: resident memory counts Python and its libraries, and says little about the GPU."
    return Figure(
        name,
        f"Speed and memory: {setting}",
        "Memory and speed",
        reading=f"Left: longer is better. Right: shorter is better. {how}",
        limits=limits,
        alt=f"Bar charts of speed and memory. Bases per second: {listed(told)}.",
        drawing=figure,
    )


def _said(row: Result) -> str:
    """The speed; how the row ended where it has none, or where a later round did not end well."""
    speed, outcome = row["tokens_per_second"], outcome_of(row) if "outcome" in row else "ok"
    if speed is None:
        return UNKNOWN if outcome == "ok" else outcome
    return whole(speed) if outcome == "ok" else f"{whole(speed)}\n{outcome}"


def _bar(panel: Axes, place: int, value: float, end: float, label: str, look: Look) -> None:
    panel.barh(
        place, value, height=0.62, color=look.colour, hatch=look.hatch, edgecolor=PAPER.light, linewidth=0, zorder=2
    )
    panel.annotate(label, (end, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)
