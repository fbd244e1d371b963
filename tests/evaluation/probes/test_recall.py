"""Recall: what is asked, what counts as said, and that an untrained model guesses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dnagoat.config import ModelConfig, TrainConfig
from dnagoat.errors import OptionError
from dnagoat.evaluation.probes.proportion import share
from dnagoat.evaluation.probes.recall import RecallOptions, ask, questions, recall
from dnagoat.genome.batches import IGNORE

SMALL = RecallOptions(
    marker=4,
    key=3,
    length=24,
    times=(1, 3),
    depths=3,
    trials=40,
    model=ModelConfig(width=64, heads=1, layers=1, mlp_width=32),
    train=TrainConfig(steps=2, batch_size=4, warmup=1),
)


def untouched(what: str, done: int, total: int) -> None:
    raise AssertionError(f"{what} is being trained")


class Oracle(nn.Module):
    """Says what stands behind the first marker, except for the last base where `spoils` is set."""

    def __init__(self, spoils: bool = False) -> None:
        super().__init__()
        self.spoils = spoils
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, inputs: Tensor) -> Tensor:
        logits = torch.zeros(*inputs.shape, 4)
        for row, sequence in enumerate(inputs.tolist()):
            marker = sequence[-6:-2]
            first = next(i for i in range(1, len(sequence)) if sequence[i : i + 4] == marker)
            for base in range(3):
                answer = sequence[first + 4 + base]
                logits[row, base - 3, (answer + 1) % 4 if self.spoils and base == 2 else answer] = 1.0
        return logits


def test_one_who_looks_behind_the_first_marker_is_right_everywhere() -> None:
    whole, right = ask(Oracle(), SMALL, seed=0)  # type: ignore[arg-type]
    assert (whole == 40).all() and (right == 120).all()


def test_a_key_with_one_wrong_base_is_not_said() -> None:
    whole, right = ask(Oracle(spoils=True), SMALL, seed=0)  # type: ignore[arg-type]
    assert (whole == 0).all() and (right == 80).all()


def test_only_the_second_key_is_asked_and_depths_vary() -> None:
    inputs, targets = questions(SMALL.but(train=SMALL.train.but(batch_size=64)), seed=0, step=1)
    assert inputs.shape == targets.shape == (64, 24)
    assert ((targets != IGNORE).sum(1) == 3).all()
    assert (targets[:, -3:] != IGNORE).all()
    again = questions(SMALL.but(train=SMALL.train.but(batch_size=64)), seed=0, step=1)
    assert torch.equal(inputs, again[0])
    assert not torch.equal(inputs, questions(SMALL.but(train=SMALL.train.but(batch_size=64)), seed=0, step=2)[0])


def test_lengths_are_asked_from_short_to_long_whatever_their_order() -> None:
    assert SMALL.but(times=(16, 1, 4)).times == (1, 4, 16)
    with pytest.raises(OptionError, match=r"arms = .*at least 1 item"):
        SMALL.but(arms=())


def test_an_untrained_arm_guesses_and_every_cell_is_there() -> None:
    result = recall(SMALL.but(arms=("nope", "goat:sink+recency"), seeds=2))
    assert [arm["arm"] for arm in result["arms"]] == ["nope", "goat:sink+recency"]
    for arm in result["arms"]:
        assert {(cell["times"], cell["depth"]) for cell in arm["cells"]} == {
            (t, d) for t in (1, 3) for d in (0, 0.5, 1)
        }
        assert all(cell["trials"] == 80 and cell["bases"]["trials"] == 240 for cell in arm["cells"])
        bases = np.mean([cell["bases"]["value"] for cell in arm["cells"]])
        assert abs(bases - 0.25) < 0.1
        assert [row["trials"] for row in arm["lengths"]] == [240, 240]
        assert all(row["value"] == pytest.approx(np.mean(row["seeds"])) for row in arm["lengths"])


def test_a_recipe_trains_a_probes_arm_too() -> None:
    """Three steps, so that rates have differed before the last loss is read."""
    asked = SMALL.but(arms=("nope", "nope@recipe=goat"), train=SMALL.train.but(steps=3, lr=1e-2))
    plain, recipe = recall(asked)["arms"]
    assert plain["fits"][0]["loss"][0] == recipe["fits"][0]["loss"][0]
    assert plain["fits"][0]["loss"][-1] != recipe["fits"][0]["loss"][-1]


@pytest.mark.parametrize("bad", ["rope:sink", "goat@heads=16"])
def test_a_wrong_second_arm_is_refused_before_the_first_is_trained(bad: str) -> None:
    with pytest.raises(OptionError):
        recall(SMALL.but(arms=("nope", bad)), progress=untouched)


def test_wilsons_interval_says_something_at_0_and_nothing_about_nothing() -> None:
    nothing, half = share(0, 20), share(10, 20)
    assert nothing["interval"][0] == pytest.approx(0.0)
    assert nothing["interval"][1] == pytest.approx(0.1611, abs=1e-4)
    assert half["interval"] == pytest.approx([0.2993, 0.7007], abs=1e-4)
    assert share(0, 0) == {"hits": 0, "trials": 0, "value": None, "interval": None}
