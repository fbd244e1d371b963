"""What a comparison of several seeds says, as tables: every arm against the reference, on all bases and by stratum."""

from __future__ import annotations

from statistics import median

from dnagoat.reporting.numbers import UNKNOWN, decimals, interval, large, listed
from dnagoat.reporting.results import Result
from dnagoat.reporting.table import Cell, Column, Row, Table
from dnagoat.wording import counted


def tables(comparison: Result) -> list[Table]:
    """The verdicts, the same by stratum (repeats where they are marked) and by place in the window, and the bases that
    it took."""
    split = _split(comparison)
    known = comparison["arms"][0]["splits"][split]
    reference = comparison["reference"]
    made = [verdicts(comparison, split)]
    if "repeat" in known:
        title = f"Where the difference to {reference} comes from"
        made.append(by_stratum(comparison, split, "comparison-strata", title, ["repeat", "unique"]))
    if "late" in known:
        title = f"The difference to {reference} in the first and in the last quarter of a window"
        made.append(by_stratum(comparison, split, "comparison-places", title, ["early", "late"]))
    return [*made, *([reached(comparison)] if "reach" in comparison["arms"][0] else [])]


def _split(comparison: Result) -> str:
    return "test" if "test" in comparison["arms"][0]["splits"] else "val"


def verdicts(comparison: Result, split: str) -> Table:
    """One row an arm: NLL over seeds, paired difference with both intervals, the call."""
    reference = comparison["reference"]
    columns = [
        Column("nll", f"{'Test' if split == 'test' else 'Validation'} NLL, mean of seeds", "nats per base"),
        Column("difference", f"Difference to {reference}", "nats per base"),
        Column("verdict", f"Against {reference}", numeric=False),
        Column("val_nll", "Validation NLL", "nats per base"),
        Column("parameters", "Weights"),
        Column("speed", "Speed", f"times {reference}"),
    ]
    rows = [Row(arm["name"], _cells(arm, split), arm=arm["name"]) for arm in comparison["arms"]]
    first = comparison["arms"][0]["splits"][split]["all"]
    notes = [
        f"{counted(len(comparison['seeds']), 'seed')}; {counted(first['count'], 'scored base')} in "
        f"{counted(first['blocks'], 'block')} of {counted(comparison['block_bases'], 'base')}. Arms of one seed share "
        "data order, initial values of shared weights and scored bases, so the differences are paired. A verdict needs "
        "two 95 % intervals on the same side of 0: the t interval over seeds (training again) and the block bootstrap "
        "(another stretch of genome).",
        *_warnings(comparison, split),
    ]
    return Table("comparison", "Verdict on each arm", "Arm", columns, rows, notes)


def _cells(arm: Result, split: str) -> list[Cell]:
    here = arm["splits"][split]["all"]
    val = arm["splits"].get("val", {}).get("all", {})
    found = here["difference"]
    return [
        _nats(here, " · ".join(decimals(value) for value in here["by_seed"])),
        Cell("reference") if found is None else _difference(found),
        Cell("reference" if found is None else found["verdict"], None if found is None else found["verdict"]),
        _nats(val, "") if val else Cell(UNKNOWN),
        Cell(large(arm["parameters"]["all"]), arm["parameters"]["all"]),
        _speed(arm["speed_ratio"]),
    ]


def _speed(ratio: float | None) -> Cell:
    return Cell(UNKNOWN, under="seeds differ: see bench") if ratio is None else Cell(decimals(ratio, 2), ratio)


def _nats(result: Result, seeds: str) -> Cell:
    low, high = result.get("interval") or (None, None)
    under = "\n".join(part for part in (interval((low, high)), seeds) if part)
    return Cell(decimals(result.get("value")), result.get("value"), low, high, under)


def _difference(found: Result) -> Cell:
    low, high = found["over_seeds"] or (None, None)
    parts = [f"seeds {interval(found['over_seeds'], sign=True)}" if found["over_seeds"] else ""]
    parts += [f"genome {interval(found['over_blocks'], sign=True)}" if found["over_blocks"] else ""]
    under = "\n".join(part for part in parts if part)
    return Cell(decimals(found["value"], sign=True), found["value"], low, high, under)


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
                Cell("reference") if here["difference"] is None else _difference(here["difference"]),
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
