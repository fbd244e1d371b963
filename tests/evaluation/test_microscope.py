"""The microscope on runs whose answer is known: the start's own shape, planted sinks, parts that do nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from dnagoat.evaluation.measures import MeasureOptions, ensure
from dnagoat.evaluation.microscope import ablations, content_against_prior
from dnagoat.evaluation.probes.sinks import first_key, first_symbol_replaced, sinks
from dnagoat.evaluation.shape import shape
from dnagoat.evaluation.windows import random_windows, real_windows
from dnagoat.genome.alphabet import START
from dnagoat.model import DnaLM

OPTIONS = MeasureOptions(block=100, resamples=1000, windows=6)


def test_a_run_that_never_trained_has_its_starts_shape(make_run) -> None:
    run = make_run("goat")
    result = ensure(run, "inspect", OPTIONS)
    start, kept = result["checkpoints"]
    assert start["layers"] == kept["layers"]
    assert all(wave["moved"] == 0 and wave["p"] is None for wave in kept["waves"])
    assert [wave["period"] for wave in kept["waves"]] == pytest.approx([3.0, 10.5])
    heads = [head for layer in kept["layers"] for head in layer["heads"]]
    assert all(0 <= head["reach_half"] <= head["reach_95"] < 64 for head in heads)
    assert all(0 <= head["divergence"] <= math.log(64) for head in heads)
    assert {row["without"] for row in result["ablations"]} == {None, "spectral", "sink", "recency"}
    assert result == ensure(run, "inspect", OPTIONS)


def test_a_scheme_without_a_prior_is_uniform(make_run) -> None:
    result = ensure(make_run("rope"), "inspect", OPTIONS)
    heads = [head for layer in result["checkpoints"][-1]["layers"] for head in layer["heads"]]
    assert all(head["divergence"] == pytest.approx(0, abs=1e-9) and head["slope"] is None for head in heads)
    assert all(head["reach_half"] == 31 for head in heads)
    assert result["checkpoints"][-1]["waves"] == []
    assert {row["without"] for row in result["ablations"]} == {None, "rotation"}


def test_the_bounds_of_the_theorem_hold_on_real_windows(make_run, dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    for name in ("nope", "alibi", "goat", "goat+rope"):
        rows = content_against_prior(make_run(name).model(), codes)
        assert len(rows) == 4
        assert all(0 <= row["tightness"] <= 1 + 1e-9 and row["omega"] > 0 and row["moved"] >= 0 for row in rows)


def test_a_model_that_knows_no_start_symbol_is_not_shown_it(make_run, dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    model = make_run("goat", classes=5).model()
    seen = content_against_prior(model, codes)
    with torch.no_grad():
        model.embedding.weight[START] = 1e3
    assert content_against_prior(model, codes) == seen


def test_a_part_that_does_nothing_costs_nothing_and_one_that_does_costs_something(make_run, dataset) -> None:
    model = make_run("goat").model()
    codes, starts = real_windows(dataset, OPTIONS)
    with torch.no_grad():
        for name, parameter in model.position_parameters().items():
            if name.endswith((".even", ".odd")):
                parameter.zero_()
            if name.endswith(".slopes"):
                parameter.fill_(2.0)
    rows = {row["without"]: row for row in ablations(model, codes, starts // 100, OPTIONS)}
    assert rows["spectral"]["cost"] == 0
    assert rows["spectral"]["interval"] == [0, 0]
    assert rows["recency"]["cost"] != 0
    assert rows["recency"]["value"] == pytest.approx(rows[None]["value"] + rows["recency"]["cost"])


def planted(model: DnaLM, lead: float) -> DnaLM:
    """A model whose prior gives the first position `lead` nats, and whose recency is off."""
    with torch.no_grad():
        for name, parameter in model.position_parameters().items():
            if name.endswith(".first"):
                parameter.fill_(lead)
            elif not name.endswith(".weight"):
                parameter.zero_()
    return model


def test_a_planted_sink_is_found_and_laid_to_the_prior(make_run, dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    for row in first_key(planted(make_run("goat").model(), 20.0), codes):
        assert row["weight"] > 0.99
        assert row["strongest"] == 1
        assert row["prior"] == pytest.approx(20.0, abs=1e-4)
        assert abs(row["content"]) < 5
        assert row["margin"] == pytest.approx(row["prior"] + row["content"])


def test_without_a_sink_the_prior_gives_no_lead(make_run, dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    for row in first_key(planted(make_run("goat").model(), 0.0), codes):
        assert row["prior"] == pytest.approx(0.0, abs=1e-6)
        assert row["weight"] < 0.2


def test_a_first_symbol_that_nobody_looks_at_costs_nothing(make_run) -> None:
    model = planted(make_run("goat").model(), -60.0)
    codes = random_windows(6, 64, seed=0)
    found = first_symbol_replaced(model, codes, np.arange(6), seed=0)
    assert found["cost"] == pytest.approx(0.0, abs=1e-7)
    assert found["count"] == 6 * 63
    looked_at = first_symbol_replaced(planted(model, 20.0), codes, np.arange(6), seed=0)
    assert abs(looked_at["cost"]) > 1e-6


def test_the_sink_probe_names_arms_windows_and_heads(make_run) -> None:
    result = sinks([("goat", make_run("goat"))], OPTIONS)
    (found,) = result["runs"]
    assert {(row["windows"], row["layer"], row["head"]) for row in found["rows"]} == {
        (kind, layer, head) for kind in ("real", "random") for layer in range(2) for head in range(2)
    }
    assert [row["windows"] for row in found["replaced"]] == ["real", "random"]


def test_random_windows_are_even_and_a_function_of_the_seed() -> None:
    codes = random_windows(20, 500, seed=3)
    assert np.array_equal(codes, random_windows(20, 500, seed=3))
    assert not np.array_equal(codes, random_windows(20, 500, seed=4))
    assert np.abs(np.bincount(codes.ravel(), minlength=4) / codes.size - 0.25).max() < 0.02


def test_a_wave_that_moved_in_every_head_stands_out(make_run) -> None:
    start, model = make_run("goat").model(), make_run("goat").model()
    with torch.no_grad():
        for name, parameter in model.position_parameters().items():
            if name.endswith(".odd"):
                parameter[:, 0] += 1.0
    codon, turn = shape(model, start)["waves"]
    assert codon["moved"] == pytest.approx(1.0, abs=1e-6)
    assert codon["p"] < turn["p"]
    assert codon["mean_rank"] == 2
