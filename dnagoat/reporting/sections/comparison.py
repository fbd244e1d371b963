"""What a comparison of several seeds says: every arm against the reference, on all bases and by stratum, and drawn."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from dnagoat.reporting.cells import estimate
from dnagoat.reporting.drawing.figure import Figure, canvas, leave_empty
from dnagoat.reporting.drawing.room import broken
from dnagoat.reporting.numbers import UNKNOWN, decimals, gibibytes, interval, large, listed, whole
from dnagoat.reporting.section import Section
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.style import MUTED, TEXT, Look, drawing, looks
from dnagoat.reporting.table import Cell, Column, Row, Table, Tone
from dnagoat.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 3  # panels beside each other
LONGEST = 24  # letters of an arm's name before it is broken
SPOKEN = {"all": "all bases", "repeat": "repeats", "early": "first quarter", "late": "last quarter"}
SPLITS = {"val": "Validation", "test": "Test"}
TONES: dict[str, Tone] = {"better": "good", "worse": "bad", "not distinguishable": "unsure", "too few seeds": "unsure"}
UNSTEADY = (
    "Where no speed ratio is given, the speeds of one arm's seeds differ by more than a quarter, as on a machine that "
    "does other work; `dnagoat bench` measures speed."
)


def tables(comparison: Result) -> list[Table]:
    """The verdicts, the same by stratum (repeats where they are marked) and by place in the window, and the bases that
    it took."""
    made = of_split(comparison, _split(comparison))
    return [*made, *([reached(comparison)] if "reach" in comparison["arms"][0] else [])]


def every_table(comparison: Result) -> list[Table]:
    """The same for validation too, and what each arm cost: what `dnagoat compare` shows at its end."""
    splits = [split for split in SPLITS if split in comparison["arms"][0]["splits"]]
    made = [table for split in splits for table in of_split(comparison, split)]
    return [*made, costs(comparison), *([reached(comparison)] if "reach" in comparison["arms"][0] else [])]


def of_split(comparison: Result, split: str) -> list[Table]:
    """The verdicts on one split, and where they come from."""
    known = comparison["arms"][0]["splits"][split]
    reference, on = comparison["reference"], "" if split == _split(comparison) else f"-{split}"
    where = f", on {SPLITS[split].lower()}" if on else ""
    made = [verdicts(comparison, split)]
    if "repeat" in known:
        title = f"Where the difference to {reference} comes from{where}"
        made.append(by_stratum(comparison, split, f"comparison-strata{on}", title, ["repeat", "unique"]))
    if "late" in known:
        title = f"The difference to {reference} in the first and in the last quarter of a window{where}"
        made.append(by_stratum(comparison, split, f"comparison-places{on}", title, ["early", "late"]))
    return made


def _split(comparison: Result) -> str:
    return "test" if "test" in comparison["arms"][0]["splits"] else "val"


def verdicts(comparison: Result, split: str) -> Table:
    """One row an arm: NLL over seeds, paired difference with both intervals, the call."""
    reference, judged = comparison["reference"], _split(comparison)
    columns = [
        Column("nll", f"{SPLITS[split]} NLL, mean of seeds", "nats per base"),
        Column("difference", f"Difference to {reference}", "nats per base"),
        Column("verdict", f"Against {reference}", numeric=False),
    ]
    if split == judged:
        columns.append(Column("val_nll", "Validation NLL", "nats per base"))
        columns += [Column("parameters", "Weights"), Column("speed", "Speed", f"times {reference}")]
    arms = comparison["arms"]
    made = {arm["name"]: [*_cells(arm, split), *(_beside(arm) if split == judged else [])] for arm in arms}
    rows = [Row(name, cells, arm=name) for name, cells in made.items()]
    first = arms[0]["splits"][split]["all"]
    notes = [
        f"{counted(len(comparison['seeds']), 'seed')}; {counted(first['count'], 'scored base')} in "
        f"{counted(first['blocks'], 'block')} of {counted(comparison['block_bases'], 'base')}. Arms of one seed share "
        "data order, initial values of shared weights and scored bases, so the differences are paired. A verdict needs "
        "two 95 % intervals on the same side of 0: the t interval over seeds (training again) and the block bootstrap "
        "(another stretch of genome).",
        *_warnings(comparison, split),
    ]
    if split == judged:
        return Table("comparison", "Verdict on each arm", "Arm", columns, rows, notes)
    return Table(f"comparison-{split}", f"{SPLITS[split]}, which chose the checkpoints", "Arm", columns, rows, notes)


def _cells(arm: Result, split: str) -> list[Cell]:
    here = arm["splits"][split]["all"]
    found = here["difference"]
    return [
        _nats(here, " · ".join(decimals(value) for value in here["by_seed"])),
        Cell("reference") if found is None else _difference(found),
        Cell("reference") if found is None else _call(found),
    ]


def _beside(arm: Result) -> list[Cell]:
    """What stands beside the split that is judged."""
    val, parameters = arm["splits"].get("val", {}).get("all", {}), arm["parameters"]["all"]
    return [_nats(val, ""), Cell(large(parameters), parameters), _speed(arm["speed_ratio"])]


def _call(found: Result) -> Cell:
    return Cell(found["verdict"], found["verdict"], tone=TONES[found["verdict"]])


def costs(comparison: Result) -> Table:
    """What each arm cost to train: the rate that was best for it, weights, speed, memory."""
    columns = [
        Column("lr", "Learning rate"),
        Column("parameters", "Weights"),
        Column("position", "Weights of position"),
        Column("tokens_per_second", "Speed", "bases per second"),
        Column("speed_ratio", "Speed", f"times {comparison['reference']}"),
        Column("memory", "Peak memory"),
    ]
    rows = []
    for arm in comparison["arms"]:
        cuda, parameters = arm["cuda_allocated_peak"], arm["parameters"]
        peak, speed = cuda or arm["resident_peak"], arm["tokens_per_second"]
        cells = [
            Cell(f"{arm['lr']:g}", arm["lr"]),
            *(Cell(large(parameters[kind]), parameters[kind]) for kind in ("all", "position")),
            Cell(whole(speed), speed),
            _speed(arm["speed_ratio"]),
            Cell(gibibytes(peak), peak, under="CUDA" if cuda else "resident"),
        ]
        rows.append(Row(arm["name"], cells, arm=arm["name"]))
    unsteady = any(arm["speed_ratio"] is None for arm in comparison["arms"])
    return Table("comparison-cost", "What it cost", "Arm", columns, rows, [UNSTEADY] * unsteady)


def _speed(ratio: float | None) -> Cell:
    return Cell(UNKNOWN, under="seeds differ: see bench") if ratio is None else Cell(decimals(ratio, 2), ratio)


def _nats(result: Result, under: str) -> Cell:
    return estimate(result.get("value"), result.get("interval"), under=under)


def _difference(found: Result, call: str = "") -> Cell:
    """The difference with both intervals, and the call below them where no column of its own has it."""
    low, high = found["over_seeds"] or (None, None)
    parts = [f"seeds {interval(found['over_seeds'], sign=True)}" if found["over_seeds"] else ""]
    parts += [f"genome {interval(found['over_blocks'], sign=True)}" if found["over_blocks"] else "", call]
    under = "\n".join(part for part in parts if part)
    return Cell(decimals(found["value"], sign=True), found["value"], low, high, under, tone=TONES[found["verdict"]])


def by_stratum(comparison: Result, split: str, slug: str, title: str, strata: list[str]) -> Table:
    """The paired difference inside each stratum: where a gain comes from."""
    columns = []
    for name in strata:
        columns += [Column(f"nll_{name}", f"NLL, {name}", "nats per base")]
        columns += [Column(f"difference_{name}", f"Difference, {name}", "nats per base")]
    rows = []
    for arm in comparison["arms"]:
        cells = []
        for name in strata:
            here = arm["splits"][split][name]
            cells += [
                _nats(here, ""),
                Cell("reference")
                if here["difference"] is None
                else _difference(here["difference"], here["difference"]["verdict"]),
            ]
        rows.append(Row(arm["name"], cells, arm=arm["name"]))
    return Table(slug, title, "Arm", columns, rows)


def goals(comparison: Result) -> list[str]:
    """What validation came down to: the reference's best, then each NLL that was asked for."""
    nlls = [goal["nll"] for goal in comparison["arms"][0]["reach"]]
    return [f"{comparison['reference']}'s best" if nll is None else f"{nll:g}" for nll in nlls]


def bases(count: int | None) -> str:
    """Bases of training, or that they were not enough."""
    return "never" if count is None else large(count)


def reached(comparison: Result) -> Table:
    """Bases of training until validation came down to the reference's best, and to what was asked for."""
    columns = [Column(f"reach_{number}", goal, "") for number, goal in enumerate(goals(comparison))]
    rows = [Row(arm["name"], [_bases(goal) for goal in arm["reach"]], arm=arm["name"]) for arm in comparison["arms"]]
    notes = [
        "Median of the seeds, and each seed below; between two validations on a straight line. The validation windows "
        "of training are few, so a crossing is uncertain by about one step between validations."
    ]
    return Table("comparison-reach", "Bases of training to a validation NLL of", "Arm", columns, rows, notes)


def _bases(goal: Result) -> Cell:
    every = goal["by_seed"]
    middle = None if None in every else median(every)
    seeds = " · ".join(map(bases, every))
    return Cell("never in every seed" if middle is None else large(middle), middle, under=seeds)


def _warnings(comparison: Result, split: str) -> list[str]:
    """What the verdicts warn of, each once, with the arms that it concerns."""
    said: dict[str, list[str]] = {}
    for arm in comparison["arms"]:
        for text in (arm["splits"][split]["all"]["difference"] or {}).get("warnings", []):
            said.setdefault(text, []).append(arm["name"])
    return [f"⚠ {listed(arms)}: {text}." for text, arms in said.items()]


def differences(results: Results) -> Figure | None:
    """A panel a stratum (all bases first), a row an arm: dots are seeds, lines are the two intervals of the verdict."""
    comparison = results.comparison
    if comparison is None or len(comparison["arms"]) < 2:
        return None
    reference, *arms = comparison["arms"]
    split = "test" if "test" in reference["splits"] else "val"
    strata = list(reference["splits"][split])
    styles = looks(results.arms)
    columns = min(ACROSS, len(strata))
    rows = -(-len(strata) // columns)
    with drawing():
        height = 0.5 + (0.5 + 0.42 * len(arms)) * rows
        figure, axes = canvas(rows, columns, height=height, share_x=True, share_y=True)
        for panel, stratum in zip(axes, strata, strict=False):
            panel.axvline(0, color=MUTED.light, linewidth=1, zorder=1)
            for place, arm in enumerate(arms):
                _row(panel, place, arm["splits"][split][stratum]["difference"], styles[arm["name"]])
            panel.set_title(SPOKEN.get(stratum, stratum))
            panel.grid(axis="y", visible=False)
            panel.locator_params(axis="x", nbins=4)
        leave_empty(axes, len(strata), columns)
        axes[0].set_yticks(range(len(arms)), [broken(arm["name"], LONGEST) for arm in arms])
        axes[0].set_ylim(len(arms) - 0.5, -0.5)
        figure.supxlabel(f"NLL minus that of {reference['name']} (nats per base)", fontsize=9.5)
    told = [
        f"{arm['name']} {decimals(found['value'], sign=True)}, {found['verdict']}"
        for arm in arms
        if (found := arm["splits"][split]["all"]["difference"])
    ]
    return Figure(
        "comparison",
        f"How much each arm differs from {reference['name']}",
        "Likelihood",
        reading=f"Left of 0 is better than {reference['name']}. In each row, from above: a mark a seed; a thick line, "
        "the 95 % interval over seeds; a thin line, that over blocks of the genome. The upright stroke is the mean. A "
        "verdict needs both lines on one side of 0.",
        limits="Few seeds make wide intervals: a line across 0 means that the difference was not shown, not that "
        "there is none. It holds for this size, this amount of training and this genome.",
        alt=f"Interval chart of the difference to {reference['name']} in nats per base: {listed(told)}.",
        drawing=figure,
    )


def _row(panel: Axes, place: int, found: dict[str, Any], look: Look) -> None:
    """Nothing lies over an interval: the marks stand above both, and the mean is a stroke thinner than any."""
    seeds = found["by_seed"]
    panel.plot(seeds, [place - 0.24] * len(seeds), color=look.colour, marker=look.marker, linestyle="", markersize=4)
    for bounds, width, shift in ((found["over_seeds"], 4.5, 0.04), (found["over_blocks"], 1.5, 0.26)):
        if bounds:
            panel.plot(bounds, [place + shift] * 2, color=look.colour, linewidth=width, solid_capstyle="butt")
    panel.plot([found["value"]] * 2, [place - 0.08, place + 0.34], color=TEXT.light, linewidth=0.8, zorder=4)


COMPARISON = Section(
    "Likelihood",
    tables=lambda results, warnings: tables(results.comparison) if results.comparison else [],
    figures=lambda results, warnings: [differences(results)],
)
