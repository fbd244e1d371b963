"""What a comparison of several seeds says: every arm against the reference, on all bases and by stratum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median

from dnagoat.evaluation.scoring.verdict_rule import judged_split
from dnagoat.reporting.cells import estimate
from dnagoat.reporting.numbers import UNKNOWN, decimals, gibibytes, interval, large, listed, whole
from dnagoat.reporting.section import Question, Section
from dnagoat.reporting.sections.differences import draw_origins
from dnagoat.reporting.sections.pairs import pairs_of_comparison, tabulate
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Cell, Column, Row, Table, Tone
from dnagoat.wording import counted

SPLITS = {"val": "Validation", "test": "Test"}
TONES: dict[str, Tone] = {"better": "good", "worse": "bad", "not distinguishable": "unsure", "too few seeds": "unsure"}
UNSTEADY = (
    "Where no speed ratio is given, the speeds of one arm's seeds differ by more than a quarter, as on a machine that "
    "does other work; `dnagoat bench` measures speed."
)


def every_table(comparison: Result) -> list[Table]:
    """Pairs, verdicts, strata, cost and the bases that it took: what `dnagoat compare` shows at its end."""
    splits = [split for split in SPLITS if split in comparison["arms"][0]["splits"]]
    made = [table for split in splits for table in (verdicts(comparison, split), *origins(comparison, split))]
    pairs = pairs_of_comparison(comparison)
    return [*([tabulate(pairs)] if pairs else []), *made, costs(comparison), *_reached(comparison)]


def origins(comparison: Result, split: str) -> list[Table]:
    """Where the differences on one split come from."""
    known = comparison["arms"][0]["splits"][split]
    reference, on = comparison["reference"], "" if split == judged_split(comparison["arms"]) else f"-{split}"
    where = f", on {SPLITS[split].lower()}" if on else ""
    made = []
    if "repeat" in known:
        title = f"Where the difference to {reference} comes from{where}"
        made.append(by_stratum(comparison, split, f"comparison-strata{on}", title, ["repeat", "unique"]))
    if "late" in known:
        title = f"The difference to {reference} in the first and in the last quarter of a window{where}"
        made.append(by_stratum(comparison, split, f"comparison-places{on}", title, ["early", "late"]))
    return made


def verdicts(comparison: Result, split: str) -> Table:
    """One row an arm: NLL over seeds, paired difference with both intervals, the call."""
    reference, judged = comparison["reference"], judged_split(comparison["arms"])
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
        *(tuning(comparison) if split == judged else ()),
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


def tuning(comparison: Result) -> list[str]:
    """Which learning rates were tried, what they came to, and whose best is the lowest or the highest of several."""
    tuned = {arm["name"]: arm for arm in comparison["arms"] if arm.get("tried")}
    if not tuned:
        return []
    rates = {name: [each["lr"] for each in arm["tried"]] for name, arm in tuned.items()}
    nlls = {name: [decimals(each["val_nll"]) for each in arm["tried"]] for name, arm in tuned.items()}
    told = [
        f"{name} {', '.join(f'{lr:g} ({nll})' for lr, nll in zip(rates[name], nlls[name], strict=True))}"
        for name in tuned
    ]
    said = (
        "Learning rates were tried with the first seed; each arm has the one with the lowest validation NLL (in "
        f"brackets): {'; '.join(told)}."
    )
    ends = [n for n, arm in tuned.items() if len(rates[n]) > 2 and arm["lr"] in (min(rates[n]), max(rates[n]))]
    if not ends:
        return [said]
    return [
        said,
        f"{listed(ends)}: the best rate is the lowest or highest that was tried; one beyond it may be better.",
    ]


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


def _judged(results: Results, made: Callable[[Result], Iterable[Table]]) -> list[Table]:
    return list(made(results.comparison)) if results.comparison else []


def _on_all(comparison: Result) -> list[Table]:
    return [verdicts(comparison, judged_split(comparison["arms"]))]


def _by_bases(comparison: Result) -> list[Table]:
    return origins(comparison, judged_split(comparison["arms"]))


def _reached(comparison: Result) -> list[Table]:
    return [reached(comparison)] if "reach" in comparison["arms"][0] else []


COMPARISON = Section(
    Question.BETTER,
    tables=lambda results, warnings: _judged(results, _on_all),
)
ORIGINS = Section(
    Question.WHERE,
    tables=lambda results, warnings: _judged(results, _by_bases),
    figures=lambda results, warnings: [draw_origins(results)],
)
REACH = Section(Question.SOON, tables=lambda results, warnings: _judged(results, _reached))
