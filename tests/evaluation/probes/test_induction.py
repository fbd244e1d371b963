"""The induction probe: the four terms add up to what the kernel sees, the placements differ, the law is recovered."""

from __future__ import annotations

import math

import pytest
import torch

from dnagoat.attention.schemes.momentum import Momentum
from dnagoat.config import ModelConfig, PositionConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.microscope.observe import Seen, observing
from dnagoat.evaluation.probes.induction import (
    InductionOptions,
    ShearBefore,
    build,
    induction,
    strength_law,
    take_recipe,
)
from dnagoat.evaluation.probes.repetition import repetitions
from dnagoat.evaluation.probes.score_terms import score_terms, split_scores

SMALL = InductionOptions(
    vocabulary=24,
    length=24,
    stretch=8,
    strengths=(0.0, 1.0),
    placements=("after",),
    trials=40,
    model=ModelConfig(width=64, heads=2, mlp_width=64),
    train=TrainConfig(steps=200, batch_size=32, lr=5e-3, warmup=20, weight_decay=0.0),
)


@pytest.mark.parametrize("name", ["rope", "goat"])
@pytest.mark.parametrize("strength", [0.0, 0.7])
def test_the_four_terms_add_up_to_the_content_scores_of_the_kernel(name: str, strength: float) -> None:
    position = PositionConfig(name=name)
    options = SMALL.but(position=position, model=SMALL.model.but(width=128))
    model = build(options, 1, "after", strength, seed=0).eval()
    tokens = repetitions(24, 24, 6, 3, 0, "test", 0).tokens
    seen: list[Seen] = []
    with torch.no_grad(), observing(model, seen.append):
        model(tokens)
    torch.testing.assert_close(split_scores(model, tokens).sum(0).double(), seen[0].content, rtol=0, atol=1e-5)


def test_a_planted_answer_is_the_signal() -> None:
    """With q.k and q.p as trained by hand, the last step's term finds the key after the same symbol."""
    model = build(SMALL.but(position=PositionConfig(name="nope")), 1, "after", 1.0, seed=0).eval()
    attention = next(model.attentions())
    with torch.no_grad():
        model.embedding.weight.copy_(torch.eye(24, 64) * 5)
        attention.query.weight.copy_(torch.eye(64))
        attention.key.weight.copy_(-torch.eye(64))  # q_t . (k_j - k_{j-1}) is large where j - 1 holds the same symbol
    terms = {term["term"]: term for term in score_terms(model, repetitions(24, 24, 6, 20, 0, "test", 0))}
    assert terms["q.p"]["signal"] > 1.5
    assert abs(terms["p.k"]["signal"]) < 1.0
    assert terms["q.p"]["lead"] > 0


def test_without_momentum_three_terms_are_absent() -> None:
    model = build(SMALL, 1, "after", 0.0, seed=0).eval()
    terms = score_terms(model, repetitions(24, 24, 6, 5, 0, "test", 0))
    assert [term["signal"] is None for term in terms] == [False, True, True, True]
    assert [term["magnitude"] == 0 for term in terms] == [False, True, True, True]


def test_before_and_after_the_rotation_are_two_things() -> None:
    after, before = (build(SMALL, 2, place, 1.0, seed=0).eval() for place in ("after", "before"))
    assert all(isinstance(attention.scheme, ShearBefore) for attention in before.attentions())
    assert not any(isinstance(attention.scheme, ShearBefore) for attention in after.attentions())
    assert all(isinstance(attention.scheme, Momentum) for attention in after.attentions())
    assert all(torch.equal(a, b) for a, b in zip(after.parameters(), before.parameters(), strict=True))
    tokens = repetitions(24, 24, 6, 2, 0, "test", 0).tokens
    with torch.no_grad():
        assert (after(tokens) - before(tokens)).abs().max() > 1e-4


def test_one_layer_learns_induction_with_momentum_and_not_without() -> None:
    result = induction(SMALL)
    without, with_it = result["rows"]
    assert without["interval"][1] < 0.3 < with_it["interval"][0]
    assert without["trials"] == 40 * 7
    assert with_it["terms"] is not None


def test_a_wrong_second_depth_is_refused_before_the_first_is_trained() -> None:
    def untouched(what: str, done: int, total: int) -> None:
        raise AssertionError(f"{what} is being trained")

    with pytest.raises(OptionError, match="layers"):
        induction(SMALL.but(layers=(1, 0)), progress=untouched)


def test_terms_are_of_the_first_seed_and_hits_of_all() -> None:
    quick = SMALL.but(seeds=2, strengths=(1.0,), train=SMALL.train.but(steps=2))
    (both,), (first,) = (induction(options)["rows"] for options in (quick, quick.but(seeds=1)))
    assert both["terms"] == first["terms"]
    assert both["trials"] == 2 * first["trials"] and len(both["seeds"]) == len(both["loss"]) == 2
    assert both["seeds"][0] == first["value"]


def test_the_optimal_strength_law_is_recovered_from_planted_rows() -> None:
    rows = [
        {"recipe": "none", "placement": "after", "layers": n, "strength": g, "hits": -abs(math.log(g / n**-0.74))}
        for n in (1, 2, 4, 8)
        for g in (n**-0.74 * 0.5, n**-0.74, n**-0.74 * 2)
    ]
    law = strength_law(rows, "none")
    assert law is not None
    assert law["exponent"] == pytest.approx(0.74)
    assert law["factor"] == pytest.approx(1.0)
    assert strength_law(rows[:6], "none") is None
    assert strength_law(rows, "momentum") is None


def test_the_recipe_is_a_third_of_the_rate_and_a_longer_warm_up() -> None:
    train = take_recipe(TrainConfig(lr=3e-3, warmup=100), "momentum")
    assert (train.lr, train.warmup) == (pytest.approx(1e-3), 130)
