"""An arm is the configuration without the seed: one label for one setting, and others say in what they differ."""

from __future__ import annotations

from dnagoat.reporting.labels import labels, scheme
from tests.reporting import example


def test_seeds_share_a_label() -> None:
    assert labels([example.config("goat", seed=0), example.config("goat", seed=1)]) == ["goat", "goat"]


def test_runs_of_one_scheme_say_in_what_they_differ() -> None:
    base = example.config("rope")
    faster = base.but(train=base.train.but(lr=3e-3))
    assert labels([base, faster, example.config("goat")]) == ["rope (lr 0.001)", "rope (lr 0.003)", "goat"]


def test_what_nobody_gave_is_told_by_what_it_is() -> None:
    base = example.config("goat")
    wide = base.but(model=base.model.but(content=60))
    assert labels([base, wide]) == ["goat (content 44)", "goat (content 60)"]
    assert labels([base.but(model=base.model.but(content=44)), base]) == ["goat", "goat"]
    scored = base.but(train=base.train.but(score_n=True, micro_batch=2))
    assert labels([base, scored]) == ["goat (no score n)", "goat (score n)"]
    memory = base.but(model=base.model.but(memory=("words", "gaps")), memory_tables="ab")
    assert labels([base, memory]) == ["goat", "goat@memory=words+gaps"]


def test_where_a_dataset_lies_is_no_difference_of_arms() -> None:
    base = example.config("goat")
    deeper = base.but(dataset_places=("../../data/demo", "/data/demo"), train=base.train.but(seed=1))
    assert labels([base.but(dataset_places=("../data/demo", "/data/demo")), deeper]) == ["goat", "goat"]


def test_a_scheme_is_called_as_the_command_line_calls_it() -> None:
    base = example.config("goat")
    position = base.model.position
    parts = position.but(settings=position.settings.but(parts=("spectral", "sink")))
    assert scheme(base.but(model=base.model.but(position=parts))) == "goat:spectral+sink"
    assert scheme(base.but(model=base.model.but(normaliser="sparsemax"))) == "goat sparsemax"
