"""The verdict says no more than the numbers do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dnagoat.config import RunConfig
from dnagoat.files import read_json, write_json
from dnagoat.reporting.comparability import Warnings, same_bases
from dnagoat.reporting.contents import compare_runs
from dnagoat.reporting.sections.baselines import baselines
from dnagoat.reporting.sections.cost import trained
from dnagoat.reporting.sections.outcome import outcome
from dnagoat.reporting.sources import Results, read_runs
from dnagoat.reporting.verdict import Verdict, verdict
from tests.reporting import example

NLL = ("test", "val", "strata", "lengths")  # every number that is a likelihood


def judged(*runs: Path) -> Verdict:
    results = Results(read_runs(runs))
    return verdict(results, compare_runs(results))


def change(run: Path, name: str, **values: Any) -> None:
    """Gives a stored measure other values."""
    file = run / "evaluation" / f"{name}.json"
    stored = read_json(file)
    if "checkpoint" in values:
        values["checkpoint"] = {**stored["checkpoint"], **values["checkpoint"]}
    write_json(file, {**stored, **values})


def test_one_run_is_held_against_the_best_baseline(tmp_path: Path) -> None:
    said = judged(example.run(tmp_path / "goat", example.config("goat"), 1.2700)).sentence
    assert said.startswith("goat needs 1.27")
    assert "less than the best count-based baseline (order-10) on the same bases" in said


def test_one_run_that_counts_may_equal_is_not_called_better(tmp_path: Path) -> None:
    said = judged(example.run(tmp_path / "goat", example.config("goat"), 1.2880)).sentence
    assert "cannot be told from the best count-based baseline (order-10)" in said and "95 % interval −0.00" in said


def test_a_planted_difference_is_named_with_its_interval(tmp_path: Path) -> None:
    rope = example.run(tmp_path / "rope", example.config("rope"), 1.3120)
    goat = example.run(tmp_path / "goat", example.config("goat"), 1.3050)
    said = judged(rope, goat)
    assert said.sentence.startswith("The goat model predicts better than the rope model: 0.00")
    assert "95 % interval 0.00" in said.sentence
    assert any("these two models only, not about the methods" in remark for remark in said.remarks)
    assert any("No model beats the best count-based baseline" in remark for remark in said.remarks)


def test_models_that_do_not_differ_are_not_told_apart(tmp_path: Path) -> None:
    rope = example.run(tmp_path / "rope", example.config("rope"), 1.3100)
    goat = example.run(tmp_path / "goat", example.config("goat"), 1.3101)
    assert "model cannot be told apart on these test bases" in judged(rope, goat).sentence


def test_there_is_no_verdict_over_other_bases_or_without_scores(tmp_path: Path) -> None:
    rope = example.run(tmp_path / "rope", example.config("rope"), 1.31)
    other = example.run(tmp_path / "other", example.config("goat", dataset_hash="e" * 64), 1.30)
    said = judged(rope, other)
    assert said.sentence.startswith("There is no verdict: these runs were not scored on the same bases; give all of")
    assert "Runs were trained on different datasets; compare goat with care." in said.remarks
    bare = example.run(tmp_path / "bare", example.config("rope"), 1.31, missing=("nll-test",))
    assert judged(bare).sentence.startswith("There is no verdict: none of these runs")


def test_without_paired_scores_there_is_no_verdict_but_a_cure(tmp_path: Path) -> None:
    """Two numbers whose difference has no interval do not say which model is better."""
    rope = example.run(tmp_path / "rope", example.config("rope"), 1.3120)
    goat = example.run(tmp_path / "goat", example.config("goat"), 1.3050)
    for file in (goat / "evaluation").glob("bases-test-*.npz"):
        file.unlink()
    said = judged(rope, goat).sentence
    assert said.startswith("There is no verdict: the difference has no interval") and "better" not in said
    assert "the test NLL of goat was made from" in said and f"`dnagoat evaluate {goat} --what nll --split test" in said
    assert "--force` makes them again" in said


def test_there_is_no_verdict_where_the_pieces_differ(tmp_path: Path) -> None:
    rope = example.run(tmp_path / "rope", example.config("rope"), 1.3120)
    goat = example.run(tmp_path / "goat", example.config("goat"), 1.3050)
    change(goat, "nll-test", pieces="0" * 64)
    assert judged(rope, goat).sentence.startswith("There is no verdict: these runs were not scored on the same bases")
    runs = read_runs([rope, goat])
    assert not same_bases(runs) and same_bases(runs, "val") and same_bases(runs[:1])
    results = Results(runs)
    table = baselines(results)
    assert table is not None and table.rows[0].cells[0].warning == "on the bases of rope"


def test_the_ladder_is_beaten_where_the_interval_of_the_gain_says_so(tmp_path: Path) -> None:
    """The best count is at 1.2890, and a gain is known within 0.003."""
    levels = {"rope": 1.2800, "alibi": 1.2880, "goat": 1.3050}
    runs = {arm: example.run(tmp_path / arm, example.config(arm), level) for arm, level in levels.items()}
    said = " ".join(judged(*runs.values()).remarks)
    assert "on the same bases): rope better; alibi cannot be told from it; goat worse (95 % interval" in said
    assert any(r.startswith("Every model beats") for r in judged(runs["rope"], runs["rope"]).remarks)
    assert not any("beat" in remark for remark in judged(runs["alibi"], runs["rope"]).remarks)


def test_what_hinders_a_comparison_stands_beside_its_number(tmp_path: Path) -> None:
    runs = [example.run(tmp_path / f"rope{seed}", example.config("rope", seed=seed), 1.31) for seed in range(2)]
    longer = example.run(tmp_path / "longer", example.config("goat", steps=600), 1.30)
    results = Results(read_runs([*runs, longer]))
    warnings = compare_runs(results)
    assert warnings.of(results.runs[2], "bases") == ("other amount",)
    assert warnings.of(results.runs[0], "bases") == warnings.of(results.runs[2], "test") == ()


def third(folder: Path, config: RunConfig, **settings: dict[str, Any]) -> tuple[Results, Warnings]:
    """Two runs alike and a third that differs in its configuration or in what measures say of themselves."""
    runs = [example.run(folder / str(seed), example.config(seed=seed), 1.31) for seed in range(2)]
    runs.append(example.run(folder / "other", config, 1.31))
    for name, values in settings.items():
        change(runs[2], name.replace("_", "-"), **values)
    results = Results(read_runs(runs))
    return results, compare_runs(results)


@pytest.mark.parametrize(
    ("part", "changes", "short", "beside"),
    [
        ("model", {"width": 256}, "other size", {*NLL, "speed", "memory"}),
        ("model", {"layers": 6}, "other size", {*NLL, "speed", "memory"}),
        ("train", {"batch_size": 16}, "other batch size", {"bases", "speed", "memory"}),
        ("train", {"reverse_complement": False}, "other augmentation", set(NLL)),
        ("train", {"jitter": 7}, "other augmentation", set(NLL)),
        ("train", {"precision": "bf16"}, "other precision", {"speed", "memory"}),
    ],
)
def test_a_setting_that_differs_stands_beside_what_it_touches(
    part: str, changes: dict[str, Any], short: str, beside: set[str], tmp_path: Path
) -> None:
    config = example.config(seed=2)
    results, warnings = third(tmp_path, config.but(**{part: getattr(config, part).but(**changes)}))
    found = {what for (key, what), said in warnings.beside.items() if short in said}
    assert found == beside
    assert {key for key, _ in warnings.beside} == {results.runs[2].key}


@pytest.mark.parametrize(
    ("name", "values", "short", "beside"),
    [
        ("nll_test", {"checkpoint": {"which": "last"}}, "other checkpoint", "test"),
        ("nll_val", {"stride": 100}, "other context or stride", "val"),
        ("nll_test", {"context": 2 * example.PIECE}, "other context or stride", "test"),
        ("nll_val", {"pieces": "0" * 64}, "other scored bases", "val"),
        ("generation", {"settings": {"split": "test", "seed": 1}}, "other settings", "generation"),
        ("lengths_test", {"settings": {"lengths": ["1x"]}}, "other settings", "lengths"),
        ("lengths_test", {"pieces": "0" * 64}, "other scored bases", "lengths"),
        ("strata_test", {"pieces": "0" * 64}, "other scored bases", "strata"),
        ("strata_test", {"settings": {"strata": ["genes.bed"]}}, "other settings", "strata"),
    ],
)
def test_a_measure_that_was_asked_otherwise_is_marked(
    name: str, values: dict[str, Any], short: str, beside: str, tmp_path: Path
) -> None:
    results, warnings = third(tmp_path, example.config(seed=2), **{name: values})
    assert warnings.beside == {(results.runs[2].key, beside): (short,)}
    assert len(warnings.sentences) == 1


def test_weights_may_differ_by_ten_percent(tmp_path: Path) -> None:
    results, _ = third(tmp_path, example.config(seed=2))
    usual = results.runs[0].parameters or 0
    for number, odd in ((usual * 1.09, False), (usual * 1.11, True), (usual * 0.89, True)):
        results.runs[2].summary["parameters"] = {"all": int(number)}
        assert (compare_runs(results).of(results.runs[2], "parameters") == ("other number of weights",)) is odd


def test_warnings_reach_the_cells_of_their_numbers(tmp_path: Path) -> None:
    config = example.config(seed=2)
    results, warnings = third(
        tmp_path, config.but(model=config.model.but(width=256)), generation={"settings": {"seed": 1}}
    )
    for table, keys in (
        (outcome, {"test_nll", "val_nll", "gc_r"}),
        (trained, {"parameters", "tokens_per_second", "resident"}),
    ):
        made = table(results, warnings)
        cells = dict(zip((column.key for column in made.columns), made.rows[2].cells, strict=True))
        assert {key for key, cell in cells.items() if cell.warnings} == keys
