"""Every kind of verdict has a headline of at most fifteen words, whatever arms are called."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from dnagoat.reporting import headline

NAMES = (
    "goat",
    "published GOAT",
    "goat (lr 0.001, steps 600, batch 16)",
    "the one with a very long name that nobody reads",
)
CALLS = ("better", "worse", "not distinguishable", "too few seeds")


def words(said: str) -> int:
    return len(said.split())


def comparison(calls: tuple[str, ...], names: list[str]) -> dict[str, Any]:
    """A reference and an arm a call, in the form of comparison.json."""

    def arm(name: str, found: dict[str, Any] | None) -> dict[str, Any]:
        return {"name": name, "splits": {"test": {"all": {"difference": found}}}}

    values = {"better": -0.0319, "worse": 0.0041}
    judged = [{"verdict": call, "value": values.get(call, 0.0001) * (place + 1)} for place, call in enumerate(calls)]
    arms = [arm(names[0], None), *(arm(name, found) for name, found in zip(names[1:], judged, strict=True))]
    return {"arms": arms, "seeds": [0, 1, 2]}


@pytest.mark.parametrize("count", range(6))
def test_a_comparison_of_any_outcome(count: int) -> None:
    for calls in combinations_with_replacement(CALLS, count):
        for name in NAMES:
            names = [name, *(f"{name} {place}" for place in range(count))]
            said = headline.of_comparison(comparison(calls, names))
            assert 2 <= words(said) <= headline.MOST and said.endswith("."), said


def test_the_best_arm_is_named_with_its_gain_and_the_others_are_counted() -> None:
    made = comparison(("worse", "worse", "better", "not distinguishable"), ["rope", "nope", "alibi", "goat", "rope2"])
    assert headline.of_comparison(made) == "goat beats rope by 0.0957 nats per base; 1 undecided, 2 worse."
    level = comparison(("not distinguishable", "not distinguishable"), ["rope", "nope", "alibi"])
    assert headline.of_comparison(level) == "No arm was shown to differ from rope in 3 seeds."
    assert (
        headline.of_comparison(comparison(("worse",), ["rope", "nope"])) == "rope beats nope by 0.0041 nats per base."
    )
    few = comparison(("too few seeds", "worse"), ["rope", "nope", "alibi"])
    assert "better" not in headline.of_comparison(few) and "beats" not in headline.of_comparison(few)


def test_pairs_and_single_models() -> None:
    for first, second in product(NAMES, NAMES):
        for gain, beside in product((0.0123, None), ("", ", the next of 12,")):
            assert words(headline.of_pair(first, second, gain, beside)) <= headline.MOST
        for gain, beats in ((None, None), (0.01, True), (-0.01, False), (0.001, None)):
            assert words(headline.of_one(first, 1.2345, gain, beats)) <= headline.MOST
    assert (
        headline.of_one("goat", 1.27, 0.019, True)
        == "goat needs 1.2700 nats per base, 0.0190 less than the best count."
    )


def test_several_probes_are_counted_and_one_says_what_it_found() -> None:
    kinds = [{"probe": kind} for kind in ("passkey", "needle", "induction", "extrapolate", "sink", "linear")]
    for count in range(1, 7):
        assert words(headline.of_probes(kinds[:count], " ".join(["long"] * 20))) <= headline.MOST
    assert headline.of_probes(kinds[:1], "goat recalls 95 % of the keys") == "goat recalls 95 % of the keys."
