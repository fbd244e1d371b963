"""The microscope on runs whose answer is known: the start's own shape, planted sinks, parts that do nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from dnagoat.attention.proof.reference import log_prior
from dnagoat.attention.schemes.alibi import alibi_slopes
from dnagoat.attention.schemes.goat import GoatConfig
from dnagoat.attention.schemes.waves import DISTANCE_PERIODS
from dnagoat.config import ModelConfig, MomentumConfig, PositionConfig
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures.inspect import ablations, content_against_prior
from dnagoat.evaluation.microscope.anatomy import tightness
from dnagoat.evaluation.microscope.close_windows import random_windows, real_windows
from dnagoat.evaluation.microscope.observe import Seen, observing
from dnagoat.evaluation.microscope.shape import choose_steps, shape
from dnagoat.evaluation.probes.sinks import first_key, first_symbol_replaced, sinks
from dnagoat.evaluation.results import ensure, read_result
from dnagoat.files import write_json
from dnagoat.genome.alphabet import START
from dnagoat.genome.batches import to_inputs_targets
from dnagoat.genome.dataset import Dataset
from dnagoat.model.transformer import DnaLM
from dnagoat.training.kept.checkpoint import Checkpoint, TrainingState, save, weights_of
from dnagoat.training.kept.run import Run, open_run
from dnagoat_cli import app
from tests.evaluation.conftest import MakeRun

OPTIONS = MeasureOptions(block=100, resamples=1000, windows=6)


def test_a_run_that_never_trained_has_its_starts_shape(make_run: MakeRun) -> None:
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


def test_a_scheme_without_a_prior_is_uniform(make_run: MakeRun) -> None:
    result = ensure(make_run("rope"), "inspect", OPTIONS)
    heads = [head for layer in result["checkpoints"][-1]["layers"] for head in layer["heads"]]
    assert all(head["divergence"] == pytest.approx(0, abs=1e-9) and head["slope"] is None for head in heads)
    assert all(head["reach_half"] == 31 for head in heads)
    assert result["checkpoints"][-1]["waves"] == []
    assert {row["without"] for row in result["ablations"]} == {None, "rotation"}


def test_the_bounds_of_the_theorem_hold_on_real_windows(make_run: MakeRun, dataset: Dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    for name in ("nope", "alibi", "goat", "goat+rope", "rope+bias"):
        model = make_run(name).model()
        rows = content_against_prior(model, codes)
        assert len(rows) == 4
        assert all(0 <= row["tightness"] <= 1 and row["omega"] > 0 and row["moved"] >= 0 for row in rows)
        used: list[float] = []

        def look(seen: Seen, used: list[float] = used) -> None:
            used.append(float(tightness(seen.weights, seen.prior, seen.content, seen.allowed).max()))

        with torch.inference_mode(), observing(model, look):
            model(torch.from_numpy(to_inputs_targets(codes)[0]))
        assert len(used) == 2 and 0.5 < max(used) <= 1 + 1e-9, "of every row, head and window"


def test_a_sparse_normaliser_has_no_bounds(make_run: MakeRun, dataset: Dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    sparse = make_run("goat").config.model.but(normaliser="sparsemax")
    rows = content_against_prior(DnaLM(sparse).eval(), codes)
    assert all(row["tightness"] is None and row["omega"] > 0 for row in rows)


def trained(run: Run, steps: Sequence[int], **position: object) -> Run:
    """The run with these settings of its position scheme and checkpoints whose priors went a little further each."""
    scheme = run.config.model.position.but(**position)
    config = run.config.but(model=run.config.model.but(position=scheme))
    write_json(run.path / "config.json", config.model_dump(mode="json"))
    model = DnaLM(config.model, config.train.seed)
    for step in steps:
        for attention in model.attentions():
            attention.scheme.set_step(step)
        with torch.no_grad():
            for parameter in model.position_parameters().values():
                parameter.add_(0.01)
        save(run.path, Checkpoint(TrainingState(step=step, best_step=1, best_val_nll=1.4), weights_of(model)), keep=9)
    return open_run(run.path)


def test_curves_are_those_of_the_prior_at_the_start_first_middle_and_last_checkpoint(make_run: MakeRun) -> None:
    run = trained(make_run("goat"), [1, 2, 3, 4, 5])
    result = ensure(run, "inspect", OPTIONS)
    checkpoints = {checkpoint["step"]: checkpoint for checkpoint in result["checkpoints"]}
    assert [step for step, checkpoint in checkpoints.items() if checkpoint["curves"]] == [0, 1, 3, 5]
    prior = ensure(run, "prior", MeasureOptions(which="last"))
    assert result["distances"] == prior["distances"]
    for layer, start, last in zip(prior["layers"], checkpoints[0]["curves"], checkpoints[5]["curves"], strict=True):
        for head, first, now in zip(layer["heads"], start["heads"], last["heads"], strict=True):
            assert now["log_prior"] == head["log_prior"] and now["sink"] == head["sink"]
            assert first["log_prior"] == head["initial"] != now["log_prior"]


def test_which_checkpoints_are_told() -> None:
    assert [choose_steps(list(range(n))) for n in (1, 2, 3, 4, 5, 9)] == [
        [0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 4, 8],
    ]  # fmt: skip


def test_a_run_that_trained_on_is_looked_at_again(make_run: MakeRun) -> None:
    run = trained(make_run("goat"), [1, 2])
    first = ensure(run, "inspect", OPTIONS)
    assert first["kept"] == [1, 2] and read_result(run, "inspect", OPTIONS) == first
    run = trained(run, [3])  # the best checkpoint stays the first
    assert read_result(run, "inspect", OPTIONS) is None
    words = ["--windows", "3", "--device", "cpu", "--json"]
    again = CliRunner().invoke(app, ["evaluate", str(run.path), "--what", "inspect", *words])
    assert json.loads(again.stdout)["kept"] == [1, 2, 3]
    shown = CliRunner().invoke(app, ["inspect", str(run.path), *words])
    assert json.loads(shown.stdout)["kept"] == [1, 2, 3]


def test_checkpoints_of_the_same_steps_are_known_by_their_weights(make_run: MakeRun) -> None:
    run = trained(make_run("goat"), [1, 2])
    ensure(run, "inspect", OPTIONS)
    other = DnaLM(run.config.model, 5)
    save(run.path, Checkpoint(TrainingState(step=2, best_step=1, best_val_nll=1.4), weights_of(other)), keep=9)
    assert read_result(open_run(run.path), "inspect", OPTIONS) is None


def test_the_authors_form_is_looked_at_as_ours_is(make_run: MakeRun) -> None:
    """Slopes are told as slopes, not as what softplus makes them of, and every part can be switched off."""
    goat = GoatConfig(form="authors", sink_frequencies=2)
    run = trained(make_run("goat"), [1, 2], settings=goat)
    result = ensure(run, "inspect", OPTIONS)
    assert {row["without"] for row in result["ablations"]} == {None, "spectral", "sink", "recency"}
    start = result["checkpoints"][0]["layers"][0]
    assert start["periods"] == pytest.approx([2 * math.pi, 2e4 * math.pi])
    assert [head["slope"] for head in start["heads"]] == pytest.approx(alibi_slopes(2).tolist(), rel=1e-5)
    curves = ensure(run, "prior", MeasureOptions(which="last"))["layers"][1]["heads"]
    scheme = list(run.model("last").attentions())[1].scheme
    keys = torch.arange(64)
    for head, whole in zip(curves, log_prior(scheme, keys[-1:], keys)[:, 0].tolist(), strict=True):
        sink = np.array(head["sink"])
        want = np.array(whole[::-1]) - sink[::-1]
        np.testing.assert_allclose(head["log_prior"], want - want[0], atol=2e-3)


def test_momentum_is_told_of_each_layer_at_each_checkpoint(make_run: MakeRun) -> None:
    shear = MomentumConfig(strength=0.6, ramp_steps=4, layers=(1,))
    checkpoints = ensure(trained(make_run("goat"), [1, 2, 4], momentum=shear), "inspect", OPTIONS)["checkpoints"]
    strengths = [[layer["momentum"] for layer in checkpoint["layers"]] for checkpoint in checkpoints]
    assert [first for first, _ in strengths] == [None] * 4
    assert [second for _, second in strengths] == pytest.approx([0.2, 0.3, 0.4, 0.6])


def model_of(name: str = "goat", **goat: Any) -> DnaLM:
    """Two layers of two heads whose waves start at distances, and no other part."""
    goat = {"parts": ("spectral",), "periods": DISTANCE_PERIODS, "rank": len(DISTANCE_PERIODS), **goat}
    position = PositionConfig(name=name, settings=GoatConfig(**goat))
    return DnaLM(ModelConfig(width=128, heads=2, layers=2, context=1024, position=position)).eval()


@pytest.mark.parametrize("name", ["goat", "goat+rope", "rope+bias"])
def test_a_heads_peak_is_the_nearest_of_those_that_its_waves_repeat(name: str) -> None:
    model = model_of(name, distances=((1, None), (8, 167)))
    layers = shape(model, model)["layers"]
    assert [[head["peak"] for head in layer["heads"]] for layer in layers] == [[1, None], [8, 167]]


def test_peaks_follow_the_waves_alone_and_are_unknown_without_any() -> None:
    start = model_of(parts=("spectral", "sink", "recency"), distances=((3, 5), (3, 5)))
    moved = model_of(parts=("spectral", "sink", "recency"), distances=((4, 5), (3, 30)))
    with torch.no_grad():
        for parameter in moved.position_parameters().values():
            if parameter.shape == (2,):  # slopes, gains and first bumps: none of them moves a peak of the waves
                parameter.add_(5.0)
    layers = shape(moved, start)["layers"]
    assert [[head["peak"] for head in layer["heads"]] for layer in layers] == [[4, 5], [3, 30]]
    for silent in (model_of(init="uniform"), model_of("alibi"), model_of("rope")):
        heads = [head for layer in shape(silent, silent)["layers"] for head in layer["heads"]]
        assert all(head["peak"] is None and head["strongest"] is None for head in heads)


def test_the_strongest_wave_of_a_head_is_told_by_its_layers_own_period() -> None:
    start, model = (model_of(learn_periods=True, periods=(3.0, 10.5), rank=2) for _ in range(2))
    with torch.no_grad():
        for layer, attention in enumerate(model.attentions()):
            scheme: Any = attention.scheme
            part = scheme.parts["spectral"]
            part.even[0, 0] = part.odd[1, 1] = 9.0
            part.learned -= layer * math.log(2)  # the second layer's periods are twice as long
    found = shape(model, start)
    strongest = [head["strongest"] for layer in found["layers"] for head in layer["heads"]]
    assert strongest == pytest.approx([3.0, 10.5, 6.0, 21.0], rel=1e-5)
    assert [wave["period"] for wave in found["waves"]] == pytest.approx([3.0, 10.5], rel=1e-5)
    assert found["waves"][0]["periods"] == pytest.approx([3.0, 6.0], rel=1e-5)


def test_few_blocks_are_said(make_run: MakeRun) -> None:
    run = make_run("goat")
    many = ensure(run, "inspect", OPTIONS.but(windows=40, block=32))
    few = ensure(run, "inspect", OPTIONS, force=True)
    assert few["blocks"] == 6 and few["block_bases"] == 100
    assert few["warnings"] == ["only 6 blocks of 100 bases: the interval is too narrow below 30"]
    assert many["blocks"] >= 30 and many["warnings"] == []


def test_a_model_that_knows_no_start_symbol_is_not_shown_it(make_run: MakeRun, dataset: Dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    model = make_run("goat", classes=5).model()
    seen = content_against_prior(model, codes)
    with torch.no_grad():
        model.embedding.weight[START] = 1e3
    assert content_against_prior(model, codes) == seen


def test_a_part_that_does_nothing_costs_nothing_and_one_that_does_costs_something(
    make_run: MakeRun, dataset: Dataset
) -> None:
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


def test_a_planted_sink_is_found_and_laid_to_the_prior(make_run: MakeRun, dataset: Dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    for row in first_key(planted(make_run("goat").model(), 20.0), codes):
        assert row["weight"] > 0.99
        assert row["strongest"] == 1
        assert row["prior"] == pytest.approx(20.0, abs=1e-4)
        assert abs(row["content"]) < 5
        assert row["margin"] == pytest.approx(row["prior"] + row["content"])


def test_without_a_sink_the_prior_gives_no_lead(make_run: MakeRun, dataset: Dataset) -> None:
    codes, _ = real_windows(dataset, OPTIONS)
    for row in first_key(planted(make_run("goat").model(), 0.0), codes):
        assert row["prior"] == pytest.approx(0.0, abs=1e-6)
        assert row["weight"] < 0.2


def test_a_planted_length_of_the_first_key_is_found(make_run: MakeRun, dataset: Dataset) -> None:
    model, (codes, _) = make_run("rope").model(), real_windows(dataset, OPTIONS)
    before = first_key(model, codes)

    def longer(_module: object, _given: object, keys: torch.Tensor) -> torch.Tensor:
        grown = torch.ones_like(keys)
        grown[:, 0] = 7.0
        return keys * grown

    list(model.attentions())[-1].key.register_forward_hook(longer)  # the last layer: nothing else changes
    for row, plain in zip(first_key(model, codes), before, strict=True):
        assert row["key_length"] == pytest.approx(plain["key_length"] * (7.0 if row["layer"] else 1.0), rel=1e-5)


def test_a_first_symbol_that_nobody_looks_at_costs_nothing(make_run: MakeRun) -> None:
    model = planted(make_run("goat").model(), -60.0)
    codes = random_windows(6, 64, seed=0)
    found = first_symbol_replaced(model, codes, np.arange(6), seed=0)
    assert found["cost"] == pytest.approx(0.0, abs=1e-7)
    assert found["count"] == 6 * 63
    looked_at = first_symbol_replaced(planted(model, 20.0), codes, np.arange(6), seed=0)
    assert abs(looked_at["cost"]) > 1e-6


def test_the_sink_probe_names_arms_windows_and_heads(make_run: MakeRun) -> None:
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


def test_a_wave_that_moved_in_every_head_stands_out(make_run: MakeRun) -> None:
    start, model = make_run("goat").model(), make_run("goat").model()
    with torch.no_grad():
        for name, parameter in model.position_parameters().items():
            if name.endswith(".odd"):
                parameter[:, 0] += 1.0
    codon, turn = shape(model, start)["waves"]
    assert codon["moved"] == pytest.approx(1.0, abs=1e-6)
    assert codon["p"] < turn["p"]
    assert codon["mean_rank"] == 2
