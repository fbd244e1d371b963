"""What the numbers say in one sentence, and what they do not: the first thing that a reader sees."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dnagoat.reporting import headline as headlines
from dnagoat.reporting.cells import called
from dnagoat.reporting.comparability import Warnings, same_bases
from dnagoat.reporting.numbers import decimals, interval, listed
from dnagoat.reporting.paired import PieceSums, difference
from dnagoat.reporting.paired import scored as scored_pieces
from dnagoat.reporting.sections.baselines import best_baseline
from dnagoat.reporting.sections.probes.kinds import headline as found
from dnagoat.reporting.sections.probes.kinds import sentence as told
from dnagoat.reporting.sources import Result, Results, RunResults
from dnagoat.wording import counted


@dataclass(frozen=True)
class Verdict:
    """`headline` is the verdict in at most fifteen words and `sentence` in full; `remarks` say what limits it, most
    important first."""

    headline: str
    sentence: str
    remarks: list[str]


def verdict(results: Results, warnings: Warnings) -> Verdict:
    """Judges a comparison by its own rule, two or more runs by their paired difference, one run by the ladder."""
    scored = [run for run in results.runs if run.nll("test")]
    if results.comparison is not None:
        headline, sentence = headlines.of_comparison(results.comparison), _of_comparison(results.comparison)
    elif not scored:
        headline = "No verdict: no run has been scored on a test split."
        sentence = "There is no verdict: none of these runs has been scored on a test split."
    elif len(scored) == 1:
        headline, sentence = _of_one(results, scored[0])
    else:
        headline, sentence = _of_several(results, scored)
    probes = [told(probe, folder) for probe, folder in results.named_probes()]
    if probes and not results.runs:
        headline = headlines.of_probes(results.probes, found(results.probes[0]))
    sentence = " ".join([*probes, *([sentence] if results.runs else [])])
    remarks = [*warnings.remarks, *_ladder(results, scored), *_seeds(results, scored)]
    return Verdict(headline, sentence, remarks)


def _of_one(results: Results, run: RunResults) -> tuple[str, str]:
    nll = run.nll("test") or {}
    name, rung = called(results, run), best_baseline(nll)
    text = f"{name} needs {_measured(nll)} on the test split"
    headline = headlines.of_one(name, nll["value"], _gain(nll, rung) if rung else None, _beats(nll))
    return headline, f"{text}{_against(nll, rung)}." if rung else f"{text}."


def _measured(nll: Result) -> str:
    bounds = f" ({interval(nll['interval'])})" if nll.get("interval") else ""
    return f"{decimals(nll['value'])} nats per base{bounds}"


def _against(nll: Result, rung: Result) -> str:
    named = f"the best count-based baseline ({rung['name']}) on the same bases"
    gain = _gain(nll, rung)
    if _beats(nll) is None:
        bounds = interval(rung.get("gain_interval"), sign=True)
        between = f" (95 % interval {bounds})" if bounds else ""
        return f", which cannot be told from {named}: a gain of {decimals(gain, sign=True)} nats per base{between}"
    return f", {decimals(abs(gain))} {'less' if gain > 0 else 'more'} than {named}"


def _gain(nll: Result, rung: Result) -> float:
    return float(rung["value"]) - float(nll["value"]) if rung.get("gain") is None else float(rung["gain"])


def _beats(nll: Result) -> bool | None:
    """Whether the model is better than the best of the baselines; None where the interval of the gain holds 0."""
    low, high = (best_baseline(nll) or {}).get("gain_interval") or (-math.inf, math.inf)
    return True if low > 0 else False if high < 0 else None


def _of_several(results: Results, scored: list[RunResults]) -> tuple[str, str]:
    ranked = sorted(scored, key=lambda run: float((run.nll("test") or {})["value"]))
    first, second = ranked[0], ranked[1]
    if not same_bases(scored):
        return "No verdict: these runs were not scored on the same bases.", (
            "There is no verdict: these runs were not scored on the same bases; give all of them one dataset and one "
            "setting of `dnagoat evaluate` (--windows, --context, --stride)."
        )
    others, comma = ("", "") if len(ranked) == 2 else (f", the next best of {len(ranked)}", ",")
    names = f"the {called(results, first)} model", f"the {called(results, second)} model"
    own, base = scored_pieces(first, "test"), scored_pieces(second, "test")
    paired = difference(first, own, second, base, "test")
    if paired is None:
        return "No verdict: their difference has no interval.", _unpaired(results, {first.key: own, second.key: base})
    gain, bounds = -paired.value, [-paired.bounds[1], -paired.bounds[0]]
    shown = bounds[0] > 0 or bounds[1] < 0
    beside = "" if len(ranked) == 2 else f", the next of {len(ranked)},"
    headline = headlines.of_pair(called(results, first), called(results, second), gain if shown else None, beside)
    if not shown:
        return headline, (
            f"{_capital(names[0])} and {names[1]}{others}{comma} cannot be told apart on these test bases: they "
            f"differ by {decimals(gain)} nats per base (95 % interval {interval(bounds, sign=True)}, paired over "
            f"{counted(paired.blocks, 'block')} of the genome)."
        )
    return headline, (
        f"{_capital(names[0])} predicts better than {names[1]}{others}: {decimals(gain)} nats per base less (95 % "
        f"interval {interval(bounds)}, paired over {counted(paired.blocks, 'block')} of the test genome)."
    )


def _unpaired(results: Results, scores: dict[str, PieceSums | None]) -> str:
    """Two numbers without the interval of their difference are no verdict; says how to come by it."""
    lacking = [run for run in results.runs if run.key in scores and scores[run.key] is None]
    if not lacking:
        return (
            "There is no verdict: all scored bases lie in one block of the genome, which gives a difference no "
            "interval; score more bases, or `dnagoat evaluate` with a smaller --block."
        )
    cures = [f"`{(run.nll('test') or {})['command']} --force`" for run in lacking]
    return (
        "There is no verdict: the difference has no interval, since the scores of single bases that the test NLL of "
        f"{listed([called(results, run) for run in lacking])} was made from are not there; {listed(cures)} "
        f"{'makes' if len(cures) == 1 else 'make'} them again."
    )


def _seeds(results: Results, scored: list[RunResults]) -> list[str]:
    if len(scored) < 2 or results.comparison is not None:
        return []
    fewest = min(len({run.seed for run in results.of(arm)}) for arm in {run.arm for run in scored})
    if fewest >= 3:
        return ["Several seeds were trained; `dnagoat compare` turns them into a verdict on the methods."]
    return [
        "One training seed an arm says something about these two models only, not about the methods: another seed can "
        "turn the order round. A verdict on a method needs at least 3 seeds (`dnagoat compare`)."
        if len(scored) == 2
        else "So few training seeds say something about these models only, not about the methods; a verdict on a "
        "method needs at least 3 seeds an arm (`dnagoat compare`)."
    ]


def _ladder(results: Results, scored: list[RunResults]) -> list[str]:
    """Says at once which models beat the ladder of counts, the honest yardstick: each by the interval of its gain."""
    judged = [(run, nll) for run in scored if best_baseline(nll := run.nll("test") or {})]
    if len(scored) < 2 or not judged:
        return []
    rung = best_baseline(judged[0][1]) or {}
    shared = f" ({rung['name']}, {decimals(rung['value'])} nats per base on the same bases)"
    table = f"the best count-based baseline{shared if same_bases(scored) else ' on its bases'}"
    found = {answer: [called(results, run) for run, nll in judged if _beats(nll) is answer] for answer in ANSWERS}
    if len(found[True]) == len(judged):
        return [f"Every model beats {table}."]
    if len(found[False]) == len(judged):
        return [f"No model beats {table}: so far they have learned less than counting words and copying repeats gives."]
    said = [f"{listed(names)} {ANSWERS[answer]}" for answer, names in found.items() if names]
    return [f"Against {table}: {'; '.join(said)} (95 % interval of the paired gain)."]


ANSWERS = {True: "better", None: "cannot be told from it", False: "worse"}


def _of_comparison(comparison: Result) -> str:
    return str(comparison.get("verdict") or "The comparison gives no verdict yet.")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
