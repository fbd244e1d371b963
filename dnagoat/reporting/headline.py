"""The verdict in at most fifteen words: what stands largest on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dnagoat.evaluation.scoring.verdict_rule import judged_split
from dnagoat.reporting.numbers import decimals, listed
from dnagoat.wording import counted

MOST = 15  # words


def first_short(candidates: Iterable[str]) -> str:
    """The first of these that has at most fifteen words; the last one always has."""
    every = list(candidates)
    return next((said for said in every if len(said.split()) <= MOST), every[-1])


def of_pair(first: str, second: str, gain: float | None, beside: str = "") -> str:
    """Which of two models is better, by how many nats per base; without a gain they cannot be told apart."""
    if gain is None:
        said = f"{first} and {second}{beside} cannot be told apart on these test bases"
        return _sentence(
            [said, f"{first} and {second} cannot be told apart", "The best two models cannot be told apart"]
        )
    by = f"by {decimals(gain)} nats per base"
    said = f"{first} beats {second}{beside} {by}"
    return _sentence([said, f"{first} is best, {by}", f"The best model beats the next {by}"])


def of_one(name: str, nll: float, gain: float | None, beats: bool | None) -> str:
    """A single model beside the best count; without a gain there is none."""
    said = f"{name} needs {decimals(nll)} nats per base"
    if gain is None:
        return _sentence([said, f"The model needs {decimals(nll)} nats per base"])
    against = {
        True: f", {decimals(abs(gain))} less than the best count",
        False: f", {decimals(abs(gain))} more than the best count",
        None: " and cannot be told from counting",
    }[beats]
    return _sentence([said + against, f"The model needs {decimals(nll)} nats per base{against}"])


def of_comparison(comparison: dict[str, Any]) -> str:
    """The best arm against the reference by the rule of the comparison, and in a word the others."""
    reference, *others = comparison["arms"]
    split = judged_split(comparison["arms"])
    calls = {arm["name"]: arm["splits"][split]["all"]["difference"] for arm in others}
    if not calls:
        return _sentence([f"Only {reference['name']} was trained: nothing to compare", "Nothing to compare"])
    found = {verdict: [arm for arm, call in calls.items() if call["verdict"] == verdict] for verdict in VERDICTS}
    better = sorted(found["better"], key=lambda arm: calls[arm]["value"])
    name = reference["name"]
    if better:
        by = f"by {decimals(-calls[better[0]]['value'])} nats per base"
        rest = _rest({**found, "better": better[1:]})
        said = [f"{better[0]} beats {name} {by}{rest}", f"{better[0]} beats {name} {by}"]
        return _sentence([*said, f"{better[0]} is best, {by}", f"The best arm beats the reference {by}"])
    if found["too few seeds"]:
        return _sentence(["Too few seeds for a verdict on any method"])
    if not found["worse"]:
        shown = f"No arm was shown to differ from {name}"
        return _sentence([f"{shown} in {counted(len(comparison['seeds']), 'seed')}", shown, "No difference was shown"])
    if not found["not distinguishable"] and len(others) == 1:
        by = f"by {decimals(calls[others[0]['name']]['value'])} nats per base"
        return _sentence([f"{name} beats {others[0]['name']} {by}", f"The reference is better {by}"])
    return _sentence([f"No arm beats {name}{_rest(found)}", f"No arm beats the reference{_rest(found)}"])


VERDICTS = {
    "better": "by less",
    "not distinguishable": "undecided",
    "worse": "worse",
    "too few seeds": "without verdict",
}


def _rest(found: Mapping[str, Sequence[Any]]) -> str:
    said = [f"{len(arms)} {VERDICTS[verdict]}" for verdict, arms in found.items() if arms]
    return f"; {', '.join(said)}" if said else ""


def _sentence(candidates: Sequence[str]) -> str:
    return f"{first_short(candidates)}."


def of_probes(probes: Sequence[dict[str, Any]], finding: str) -> str:
    """What a single probe found; of several, which there are."""
    if len(probes) == 1:
        return _sentence([finding, f"What the probe {probes[0]['probe']} found"])
    kinds = listed(list(dict.fromkeys(str(probe["probe"]) for probe in probes)))
    return _sentence([f"{counted(len(probes), 'probe')} of what positions allow: {kinds}", "What positions allow"])
