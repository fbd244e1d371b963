"""The verdict says no more than the numbers do."""

from __future__ import annotations

from pathlib import Path

from dnagoat.reporting.comparability import compared
from dnagoat.reporting.results import Results, read_runs
from dnagoat.reporting.verdict import Verdict, verdict
from tests.reporting import example


def judged(*runs: Path) -> Verdict:
    results = Results(read_runs(runs))
    return verdict(results, compared(results))


def test_one_run_is_held_against_the_best_baseline(tmp_path: Path) -> None:
    said = judged(example.run(tmp_path / "goat", example.config("goat"), 1.2700)).sentence
    assert said.startswith("goat needs 1.27")
    assert "less than the best count-based baseline (order-10) on the same bases" in said


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
    assert said.sentence == "There is no verdict: these runs were not scored on the same bases."
    assert "Runs were trained on different datasets; compare with care." in said.remarks
    bare = example.run(tmp_path / "bare", example.config("rope"), 1.31, missing=("nll-test",))
    assert judged(bare).sentence.startswith("There is no verdict: none of these runs")


def test_what_hinders_a_comparison_stands_beside_its_number(tmp_path: Path) -> None:
    runs = [example.run(tmp_path / f"rope{seed}", example.config("rope", seed=seed), 1.31) for seed in range(2)]
    longer = example.run(tmp_path / "longer", example.config("goat", steps=600), 1.30)
    results = Results(read_runs([*runs, longer]))
    warnings = compared(results)
    assert warnings.of(results.runs[2], "bases") == "other amount"
    assert warnings.of(results.runs[0], "bases") == "" and warnings.of(results.runs[2], "test") == ""
