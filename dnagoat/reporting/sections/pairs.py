"""Which models differ from each other: each against each, where a comparison has more than a reference and one arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from dnagoat.evaluation.scoring.verdict_rule import judged_split
from dnagoat.reporting.cells import called, estimate
from dnagoat.reporting.numbers import listed
from dnagoat.reporting.paired import difference, scored
from dnagoat.reporting.sections.differences import both_intervals
from dnagoat.reporting.sources import Result, Results
from dnagoat.reporting.table import Cell, Column, Row, Table, Tone
from dnagoat.wording import counted

TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}
TURNED = {"better": "worse", "worse": "better"}
TOO_FEW = "too few seeds"
MOST = 4  # pairs that are named in a sentence


@dataclass(frozen=True)
class Pair:
    """One model minus another in nats per base, the interval that decides, and what was decided."""

    value: float
    low: float | None
    high: float | None
    call: str

    def turned(self) -> Pair:
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Pair(-self.value, low, high, TURNED.get(self.call, self.call))

    def cell(self) -> Cell:
        bounds = None if self.low is None else (self.low, self.high)
        made = estimate(self.value, bounds, sign=True, under=self.call)
        return Cell(made.text, made.value, made.low, made.high, made.under, tone=TONES.get(self.call, "unsure"))


@dataclass(frozen=True)
class Pairs:
    """Every two of the models, best first; `arms` are theirs in the same order."""

    names: Sequence[str]
    arms: Sequence[str]
    between: dict[tuple[str, str], Pair]
    rule: str

    @property
    def undecided(self) -> list[tuple[str, str]]:
        return [pair for pair, found in self.between.items() if found.call not in TONES]


def find_pairs(results: Results) -> Pairs | None:
    """Each model against each; None where there are fewer than three, or where not every pair was judged."""
    return _of_runs(results) if results.comparison is None else pairs_of_comparison(results.comparison)


def pairs_of_comparison(comparison: Result) -> Pairs | None:
    """The same of a comparison's arms; earlier versions judged no pairs but those with the reference."""
    split = judged_split(comparison["arms"])
    nlls = {arm["name"]: arm["splits"][split]["all"]["value"] for arm in comparison["arms"]}
    ranked = sorted(nlls, key=lambda name: float(nlls[name]))
    reference, *others = comparison["arms"]
    judged = {(arm["name"], reference["name"]): arm["splits"][split]["all"]["difference"] for arm in others}
    judged |= {(pair["arm"], pair["against"]): pair for pair in comparison.get("pairs", [])}
    known = {names: _pair(found) for names, found in judged.items()}
    known |= {(against, arm): found.turned() for (arm, against), found in known.items()}
    rule = (
        "Differences are paired, and a verdict needs two 95 % intervals on the same side of 0, over seeds and over "
        "blocks of the genome; the one that is shown takes in both."
    )
    return _whole(Pairs(ranked, ranked, {two: known[two] for two in combinations(ranked, 2) if two in known}, rule))


def _whole(found: Pairs) -> Pairs | None:
    count = len(found.names)
    return found if count > 2 and len(found.between) == count * (count - 1) // 2 else None


def _pair(found: Result) -> Pair:
    low, high = both_intervals(found) or (None, None)
    return Pair(found["value"], low, high, found["verdict"])


def _of_runs(results: Results) -> Pairs | None:
    """Of runs that no comparison has judged: a call on these very models, by the interval over blocks."""
    ranked = sorted(
        (run for run in results.scored if run.nll("test")), key=lambda run: float((run.nll("test") or {})["value"])
    )
    if len(ranked) < 3:
        return None  # the scores are read for nothing
    own = {run.key: scored(run, "test") for run in ranked}
    between = {}
    for one, other in combinations(ranked, 2):
        paired = difference(one, own[one.key], other, own[other.key], "test")
        if paired is not None:
            low, high = paired.bounds
            call = "better" if high < 0 else "worse" if low > 0 else "not distinguishable"
            between[called(results, one), called(results, other)] = Pair(paired.value, low, high, call)
    rule = (
        "Differences are paired over blocks of the genome, each with its 95 % interval; they say something of these "
        "very models, and with one seed each nothing of the methods."
    )
    return _whole(Pairs([called(results, run) for run in ranked], [run.arm for run in ranked], between, rule))


def tabulate(found: Pairs) -> Table:
    """A row a model but the last, a column a model but the first, both from the best to the worst."""
    numbers = range(len(found.names))
    columns = [Column(f"against_{place}", found.names[place], "nats per base") for place in numbers[1:]]
    rows = [
        Row(
            found.names[row],
            [
                found.between[found.names[row], found.names[column]].cell() if column > row else Cell("")
                for column in numbers[1:]
            ],
            arm=found.arms[row],
        )
        for row in numbers[:-1]
    ]
    note = (
        f"A row minus a column, the best model first: below 0 the row is better. {found.rule} Each pair is judged by "
        "itself: of twenty pairs of equals, one may be called different by chance."
    )
    return Table("pairs", f"Which differ from each other: {share(found)}", "Model", columns, rows, [note])


def share(found: Pairs) -> str:
    return f"{len(found.between) - len(found.undecided)} of {counted(len(found.between), 'pair')}"


def sentence(found: Pairs) -> str:
    """Which of the models differ from each other, for who has no room for the table."""
    if any(pair.call == TOO_FEW for pair in found.between.values()):
        return "Among each other: too few seeds to say which arms differ."
    if not found.undecided:
        return f"Among each other: all {counted(len(found.between), 'pair')} differ."
    left = [f"{one} from {other}" for one, other in found.undecided[:MOST]]
    more = len(found.undecided) - len(left)
    named = listed([*left, f"{more} more"] if more else left)
    return f"Among each other: {share(found)} differ; not shown to differ is {named}."
