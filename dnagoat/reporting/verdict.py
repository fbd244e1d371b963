"""What the numbers say in one sentence, and what they do not: the first thing that a reader sees."""

from __future__ import annotations

from dataclasses import dataclass

from dnagoat.reporting.comparability import Warnings
from dnagoat.reporting.numbers import decimals, interval, listed
from dnagoat.reporting.paired import difference
from dnagoat.reporting.paired import scored as scored_pieces
from dnagoat.reporting.probes import sentence as told
from dnagoat.reporting.results import Result, Results, RunResults
from dnagoat.reporting.tables import best_baseline, called, rung_name


@dataclass(frozen=True)
class Verdict:
    """`sentence` is the verdict; `remarks` say what limits it, most important first."""

    sentence: str
    remarks: list[str]


def verdict(results: Results, warnings: Warnings) -> Verdict:
    """Judges a comparison by its own rule, two or more runs by their paired difference, one run by the ladder."""
    scored = [run for run in results.runs if run.nll("test")]
    if results.comparison is not None:
        sentence = _of_comparison(results.comparison)
    elif not scored:
        sentence = "There is no verdict: none of these runs has been scored on a test split."
    elif len(scored) == 1:
        sentence = _of_one(results, scored[0])
    else:
        sentence = _of_several(results, scored)
    sentence = " ".join([*(told(probe) for probe in results.probes), *([sentence] if results.runs else [])])
    remarks = [*warnings.sentences, *_ladder(results, scored), *_seeds(results, scored)]
    return Verdict(sentence, remarks)


def _of_one(results: Results, run: RunResults) -> str:
    nll = run.nll("test") or {}
    text = f"{called(results, run)} needs {_measured(nll)} on the test split"
    rung = best_baseline(nll)
    return f"{text}{_against(nll, rung)}." if rung else f"{text}."


def _measured(nll: Result) -> str:
    bounds = f" ({interval(nll['interval'])})" if nll.get("interval") else ""
    return f"{decimals(nll['value'])} nats per base{bounds}"


def _against(nll: Result, rung: Result) -> str:
    gain = rung.get("gain")
    gain = float(rung["value"]) - float(nll["value"]) if gain is None else gain
    word = "less" if gain > 0 else "more"
    return f", {decimals(abs(gain))} {word} than the best count-based baseline ({rung_name(rung)}) on the same bases"


def _of_several(results: Results, scored: list[RunResults]) -> str:
    ranked = sorted(scored, key=lambda run: float((run.nll("test") or {})["value"]))
    first, second = ranked[0], ranked[1]
    best, next_best = first.nll("test") or {}, second.nll("test") or {}
    if best["dataset_hash"] != next_best["dataset_hash"] or best["count"] != next_best["count"]:
        return "There is no verdict: these runs were not scored on the same bases."
    others, comma = ("", "") if len(ranked) == 2 else (f", the next best of {len(ranked)}", ",")
    names = f"the {called(results, first)} model", f"the {called(results, second)} model"
    paired = difference(first, scored_pieces(first, "test"), second, scored_pieces(second, "test"), "test")
    if paired is None:
        lead = float(next_best["value"]) - float(best["value"])
        return f"{_capital(names[0])} predicts better than {names[1]}{others}: {decimals(lead)} nats per base less."
    gain, bounds = -paired.value, [-paired.bounds[1], -paired.bounds[0]]
    if bounds[0] <= 0 <= bounds[1]:
        return (
            f"{_capital(names[0])} and {names[1]}{others}{comma} cannot be told apart on these test bases: they "
            f"differ by {decimals(gain)} nats per base (95 % interval {interval(bounds, sign=True)}, paired over "
            f"{paired.blocks} blocks of the genome)."
        )
    return (
        f"{_capital(names[0])} predicts better than {names[1]}{others}: {decimals(gain)} nats per base less (95 % "
        f"interval {interval(bounds)}, paired over {paired.blocks} blocks of the test genome)."
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
    """Says at once whether the models beat the Markov ladder: the honest yardstick."""
    if len(scored) < 2:
        return []
    rung = best_baseline(scored[0].nll("test"))
    if rung is None:
        return []
    beaten = [run for run in scored if float((run.nll("test") or {})["value"]) < float(rung["value"])]
    value = decimals(rung["value"])
    table = f"the best count-based baseline ({rung_name(rung)}, {value} nats per base on the same bases)"
    if not beaten:
        return [f"No model beats {table}: so far they have learned less than counting words and copying repeats gives."]
    if len(beaten) == len(scored):
        return [f"Every model beats {table}."]
    return [f"Only {listed([called(results, run) for run in beaten])} beats {table}."]


def _of_comparison(comparison: Result) -> str:
    return str(comparison.get("verdict") or "The comparison gives no verdict yet.")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
