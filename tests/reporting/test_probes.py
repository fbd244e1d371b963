"""What a probe's result says in one sentence, in its tables and in its figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dnagoat.reporting.document import report
from dnagoat.reporting.sections.probes.kinds import figure_of, headline, sentence, tables, write
from dnagoat.reporting.sources import read


def share(hits: int, trials: int = 100) -> dict[str, Any]:
    value = hits / trials
    return {"hits": hits, "trials": trials, "value": value, "interval": [max(0.0, value - 0.1), min(1.0, value + 0.1)]}


RECALL: dict[str, Any] = {
    "probe": "needle",
    "unit": "share of keys of 4 bases recalled whole",
    "chance": 1 / 256,
    "length": 64,
    "arms": [
        {
            "arm": arm,
            "cells": [
                {"length": 64 * times, "times": times, "depth": depth, **share(hits)}
                for times, hits in ((1, 98), (16, far))
                for depth in (0.0, 1.0)
            ],
            "lengths": [
                {"length": 64, "times": 1, **share(98), "seeds": [0.97, 0.99]},
                {"length": 1024, "times": 16, **share(far), "seeds": [0.0, far / 50]},
            ],
        }
        for arm, far in (("rope", 2), ("goat", 95))
    ],
}


def row(strength: float, hits: int, placement: str = "after", layers: int = 1) -> dict[str, Any]:
    terms = [{"term": name, "magnitude": 1.0, "lead": 0.5, "signal": None} for name in ("q.k", "p.k", "q.p", "p.p")]
    head = {"recipe": "none", "layers": layers, "placement": placement, "strength": strength}
    return {**head, **share(hits), "terms": terms}


INDUCTION: dict[str, Any] = {
    "probe": "induction",
    "chance": 1 / 128,
    "rows": [row(0.0, 1), row(1.0, 83), row(1.0, 40, "before")],
    "laws": [{"recipe": "none", "layers": [1, 2, 4], "best": [1.0, 0.6, 0.36], "exponent": 0.74, "factor": 1.0}],
}
LENGTHS: list[dict[str, Any]] = [
    {"length": 512, "factor": 1.0, "value": 1.30, "interval": [1.29, 1.31], "count": 9_000},
    {"length": 8192, "factor": 16.0, "value": 1.34, "interval": None, "count": 9_000},
]
EXTRAPOLATE: dict[str, Any] = {
    "probe": "extrapolate",
    "split": "test",
    "training_length": 512,
    "arms": [{"arm": "rope", "seeds": [{"seed": 0, "lengths": LENGTHS}, {"seed": 1, "lengths": LENGTHS}]}],
}
HEAD = {"weight": 0.5, "strongest": 0.9, "margin": 2.0, "content": -1.0, "prior": 3.0, "key_length": 1.5}
SINK: dict[str, Any] = {
    "probe": "sink",
    "runs": [
        {
            "arm": "goat",
            "rows": [
                {"windows": kind, "layer": layer, "head": head, **HEAD, "weight": 0.25 + 0.5 * head}
                for kind in ("real", "random")
                for layer in range(2)
                for head in range(2)
            ],
            "replaced": [
                {"windows": kind, "cost": 0.01, "interval": [0.0, 0.02], "count": 1_000} for kind in ("real", "random")
            ],
        }
    ],
}
ALL = {probe["probe"]: probe for probe in (RECALL, INDUCTION, EXTRAPOLATE, SINK)}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("needle", "rope recalls 2 % of the keys (98 % at 1x) and goat recalls 95 % of the keys (98 % at 1x)"),
        (
            "induction",
            "1 layer predicts 1.0 % of the repeated symbols; the best, 1 layer, g 1 after the rotation, 83.0 %",
        ),
        ("extrapolate", "From 1x to 16x the training length, rope goes from 1.3000 to 1.3400 nats per base"),
        ("sink", "goat gives the first key 50.0 % of its attention with a key 1.50x as long as the others"),
    ],
)
def test_the_sentence_has_the_numbers(name: str, said: str) -> None:
    assert said in sentence(ALL[name])


@pytest.mark.parametrize("name", ALL)
def test_the_headline_has_the_finding_in_fifteen_words(name: str) -> None:
    said = headline(ALL[name])
    assert re.search(r"\d", said) and len(said.split()) <= 15


def test_tables_keep_number_and_interval_together() -> None:
    table, _ = tables(RECALL)
    rope, goat = table.rows
    assert [cell.value for cell in goat.cells] == [0.98, 0.95]
    assert (rope.cells[1].low, rope.cells[1].high) == pytest.approx((0.0, 0.12))
    assert "0.39 %" in table.notes[0]
    assert rope.cells[0].lines() == ["98.0 %", "88.0 % to 100.0 %", "by seed 97, 99 %"]


def test_depths_are_not_only_pooled() -> None:
    _, table = tables(RECALL)
    assert [row.head for row in table.rows] == ["rope, depth 0", "rope, depth 1", "goat, depth 0", "goat, depth 1"]
    assert [(cell.value, cell.low, cell.high) for cell in table.rows[2].cells] == [
        (0.98, 0.88, 1.0),
        (0.95, pytest.approx(0.85), 1.0),
    ]


@pytest.mark.parametrize("probe", [RECALL, INDUCTION], ids=["recall", "induction"])
def test_an_interval_over_sequences_says_that_it_is_not_one_over_seeds(probe: dict[str, Any]) -> None:
    assert any("does not cover the training seed" in note for note in tables(probe)[0].notes)


def test_the_terms_say_whose_they_are() -> None:
    assert any("Signal" in note and "model of seed 0" in note for note in tables(INDUCTION)[0].notes)


def test_only_strength_0_is_without_momentum() -> None:
    assert sentence(INDUCTION).startswith("Without momentum, 1 layer")
    assert sentence({**INDUCTION, "rows": INDUCTION["rows"][1:]}).startswith("At g = 1, 1 layer")


def test_two_probes_of_one_kind_keep_their_names_apart(tmp_path: Path) -> None:
    for name, probe in (("short", INDUCTION), ("long", INDUCTION), ("needle", RECALL)):
        write({"format": 1, **probe}, tmp_path / name)
    made = report(read([tmp_path / name for name in ("short", "long", "needle")]), "dnagoat report short long needle")
    kept = made.as_dict()
    assert set(kept["figures"]) == {"probe-induction-short", "probe-induction-long", "probe-needle"}
    assert {name for name in kept["tables"] if "law" in name} == {
        "probe-induction-law-none-short",
        "probe-induction-law-none-long",
    }
    assert len({figure.title for figure in made.figures}) == 3
    folder = made.write(tmp_path / "report").parent
    assert len(list((folder / "figures").glob("*.svg"))) == 3
    assert len(list((folder / "tables").glob("probe-*.csv"))) == 2 * 2 + 2


def test_the_verdict_names_the_folder_of_each_of_two_probes_of_one_kind(tmp_path: Path) -> None:
    folders = [tmp_path / "first" / "induction", tmp_path / "second" / "induction", tmp_path / "needle"]
    for folder, probe in zip(folders, (INDUCTION, INDUCTION, RECALL), strict=True):
        write({"format": 1, **probe}, folder)
    made = report(read(folders), "dnagoat report ...")
    told = [f"{folder}/induction: {sentence(INDUCTION)}" for folder in ("first", "second")]
    assert made.verdict.sentence == " ".join([*told, sentence(RECALL)])
    titles = [table.title for table in made.tables if table.name.startswith("probe-induction")]
    assert all(("(first/induction)" in title) != ("(second/induction)" in title) for title in titles) and titles
    made.write(tmp_path / "report")
    assert (tmp_path / "report" / "figures" / "probe-induction-second-induction.svg").is_file()
    (alone,) = read([folders[0]]).named_probes()
    assert alone[1] == ""


def test_the_sentence_names_the_lengths_that_were_asked() -> None:
    far = {**RECALL, "arms": [{**arm, "lengths": arm["lengths"][1:]} for arm in RECALL["arms"]]}
    assert sentence(far).endswith("bases, rope recalls 2 % of the keys and goat recalls 95 % of the keys.")
    doubled = [{**LENGTHS[0], "factor": 2.0}, LENGTHS[1]]
    assert sentence({**EXTRAPOLATE, "arms": [{"arm": "rope", "seeds": [{"seed": 0, "lengths": doubled}]}]}).startswith(
        "From 2x to 16x"
    )


def test_the_law_of_strengths_has_its_own_table() -> None:
    _, law = tables(INDUCTION)
    assert [row.cells[0].value for row in law.rows] == [1.0, 0.6, 0.36]
    assert "N^-0.74" in law.notes[0]


def test_an_unknown_interval_is_no_number() -> None:
    (table,) = tables(EXTRAPOLATE)
    assert [(cell.low, cell.high) for cell in table.rows[0].cells] == [(1.29, 1.31), (None, None)]
    assert len(table.rows) == 2


def test_sinks_are_averaged_over_the_heads_of_a_layer() -> None:
    real, random = tables(SINK)
    assert [row.cells[0].value for row in real.rows] == [0.5, 0.5]
    assert [row.head for row in random.rows] == ["goat, layer 1", "goat, layer 2"]


@pytest.mark.parametrize("name", ALL)
def test_every_figure_says_how_to_read_it_and_what_it_cannot_show(name: str) -> None:
    figure = figure_of(ALL[name])
    assert figure.name == f"probe-{name}"
    assert figure.reading and figure.limits and figure.alt
    assert "<svg" in figure.inline()
