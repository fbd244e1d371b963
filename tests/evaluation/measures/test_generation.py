"""The measure `generation`: what it holds, that its nulls are what they say, and that it is computed once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dnagoat.counts.markov import count
from dnagoat.errors import WindowError
from dnagoat.evaluation.measure import MeasureOptions
from dnagoat.evaluation.measures.generation import draw_material, trajectories
from dnagoat.evaluation.results import ensure, read_result
from dnagoat.evaluation.written.composition import sliding_gc
from dnagoat.evaluation.written.nulls import another_locus, conditional, markov_continuations
from dnagoat.evaluation.written.trajectory import TrajectoryOptions
from dnagoat.files import read_json
from dnagoat.genome.dataset import Dataset
from dnagoat.progress import silent
from dnagoat.training.kept.run import Run

SMALL = TrajectoryOptions(prompts=8, prompt_length=40, length=60, samples=2, gc_window=20, gc_stride=10)
OPTIONS = MeasureOptions(trajectory=SMALL)
MakeRun = Callable[..., Run]


def test_a_result_holds_every_measure_and_is_kept(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run("goat")
    result = ensure(run, "generation", OPTIONS)
    file = run.path / "evaluation" / "generation.json"
    assert json.loads(file.read_text()) == result == read_result(run, "generation", OPTIONS)
    assert (result["count"], result["samples"], result["dataset_hash"]) == (8, 2, run.config.dataset_hash)
    assert set(result["gc"]["nulls"]) == {"another locus", "markov", "prompt GC"}
    assert result["markov_order"] == 8
    assert result["gc"]["nulls"]["prompt GC"]["averaged"] == {"r": None, "interval": None}
    assert [row["k"] for row in result["kmers"]] == list(range(1, 9))
    assert all(0 <= row["jsd"] <= 1 and 0 <= row["floor"] <= 1 for row in result["kmers"])
    assert len(result["positions"]) == len(result["trajectories"][0]["curves"]["generated"]) == 5
    assert result["composition"]["generated"]["bases"] == 8 * 2 * 60
    assert 4 <= result["longest_match"]["generated"]["longest"] <= 60
    assert any("only 8 prompts" in warning for warning in result["warnings"])
    monkeypatch.setattr("dnagoat.evaluation.measures.generation.measure", None)
    assert ensure(run, "generation", OPTIONS) == result


def test_other_settings_do_not_replace_a_result(make_run: MakeRun) -> None:
    run = make_run("rope")
    first = ensure(run, "generation", OPTIONS)
    other = OPTIONS.but(trajectory=SMALL.but(samples=1))
    assert ensure(run, "generation", other)["samples"] == 1
    assert ensure(run, "generation", OPTIONS) == first == read_json(run.path / "evaluation" / "generation.json")
    ensure(run, "generation", other, force=True)
    assert read_json(run.path / "evaluation" / "generation.json")["samples"] == 1


def test_a_damaged_result_is_named(make_run: MakeRun) -> None:
    run = make_run("rope")
    (run.path / "evaluation").mkdir()
    (run.path / "evaluation" / "generation.json").write_text("{")
    with pytest.raises(Exception, match=r"generation\.json is damaged"):
        read_result(run, "generation", OPTIONS)


def test_batches_change_nothing(make_run: MakeRun, dataset: Dataset) -> None:
    model = make_run("goat").model()
    whole, single = (draw_material(model, dataset, OPTIONS.but(batch_size=size), silent) for size in (64, 3))
    assert (whole.written != single.written).mean() < 0.01  # float32: a draw at a boundary may fall to the other side


def test_loci_are_what_they_say(make_run: MakeRun, dataset: Dataset) -> None:
    material = draw_material(make_run("nope").model(), dataset, OPTIONS, silent)
    text = np.asarray(dataset.codes(0, dataset.manifest.tally.bases))
    for start, prompt, true in zip(material.starts, material.prompts, material.true, strict=True):
        assert np.array_equal(np.concatenate([prompt, true]), text[start : start + 100])
    assert material.spare.shape[1:] == (8, 60)
    mine = {row.tobytes() for row in material.true}
    assert not any(row.tobytes() in mine for row in material.spare.reshape(-1, 60))


def test_a_model_that_wrote_the_truth_would_correlate_perfectly(make_run: MakeRun, dataset: Dataset) -> None:
    material = draw_material(make_run("nope").model(), dataset, OPTIONS, silent)
    perfect = type(material)(**{**vars(material), "written": np.repeat(material.true[:, None], 2, axis=1)})
    found = trajectories(dataset, perfect, SMALL, 0)
    assert [found["gc"][name]["r"] for name in ("pooled", "averaged", "per_prompt")] == pytest.approx([1, 1, 1])


def test_another_locus_is_never_the_prompts_own() -> None:
    true = np.arange(7)[:, None].astype(np.uint8)
    spare = np.arange(7, 21).reshape(2, 7, 1).astype(np.uint8)
    assert np.array_equal(another_locus(true, spare), spare[0])
    rolled = another_locus(true, spare[:0])
    assert sorted(rolled.ravel()) == list(range(7)) and (rolled != true).all()


def test_without_other_loci_the_mean_of_that_null_says_nothing(make_run: MakeRun, dataset: Dataset) -> None:
    material = draw_material(make_run("nope").model(), dataset, OPTIONS, silent)
    few = type(material)(**{**vars(material), "spare": material.spare[:0]})
    assert trajectories(dataset, few, SMALL, 0)["gc"]["nulls"]["another locus"]["averaged"]["r"] is None


def test_without_spare_loci_there_is_no_floor(make_run: MakeRun) -> None:
    few = MeasureOptions(trajectory=SMALL.but(prompts=40, prompt_length=200, length=200))
    result = ensure(make_run("nope"), "generation", few)
    assert 2 <= result["count"] < 20
    assert {row["floor"] for row in result["kmers"]} == {None}


def test_a_split_that_is_too_small_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(WindowError, match="stretches of 6,000 known bases"):
        ensure(make_run("nope"), "generation", MeasureOptions(trajectory=TrajectoryOptions(length=5_488)))


def test_the_chain_gives_each_base_its_chance_after_each_context() -> None:
    rng = np.random.default_rng(0)
    text = rng.choice(4, 5000, p=[0.4, 0.1, 0.2, 0.3]).astype(np.uint8)
    chances = conditional(count([text], order=2))
    assert np.allclose(chances.sum(axis=1), 1)
    both = [text, (3 - text)[::-1]]
    seen = np.zeros((16, 4))
    for strand in both:
        np.add.at(seen, (strand[:-2] * 4 + strand[1:-1], strand[2:]), 1)
    assert np.abs(chances - seen / seen.sum(axis=1, keepdims=True)).max() < 0.05


def test_a_chain_goes_on_where_its_prompt_ended() -> None:
    """After training on one repeated word every context of 8 has a single base after it."""
    word = np.array([0, 1, 2, 3, 3, 0, 2, 1, 1, 0, 3], np.uint8)
    chain = count([np.tile(word, 5000)], order=8)
    prompts = np.stack([np.tile(word, 4)[:30], np.tile(word, 4)[5:35]])
    written = markov_continuations(chain, prompts, 22, 3, seed=0)
    expected = np.stack([np.tile(word, 8)[30:52], np.tile(word, 8)[35:57]])
    assert (written == expected[:, None]).mean() > 0.95


def test_continuations_of_the_chain_have_its_composition(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    text = rng.choice(4, 200_000, p=[0.2, 0.3, 0.3, 0.2]).astype(np.uint8)
    written = markov_continuations(count([text], order=8), text[:400].reshape(10, 40), 400, 4, seed=1)
    assert sliding_gc(written, 400, 400).mean() == pytest.approx(0.6, abs=0.02)
