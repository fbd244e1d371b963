"""Which arms differ from each other: by the very rule by which each differs from the reference, and said once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from dnagoat.evaluation.comparison.judgement import Arm, ArmScores, judge_scores
from dnagoat.genome.windows import Split
from dnagoat.reporting.document import Report, report
from dnagoat.reporting.paired import differences
from dnagoat.reporting.sections.pairs import find_pairs, pairs_of_comparison, sentence, tabulate
from dnagoat.reporting.sources import Result, Results, read_runs
from tests.reporting import example

SEEDS, BLOCKS, PIECES = 3, 48, 240


def paths(results: Results) -> dict[str, list[Path]]:
    return {arm: [run.run.path for run in results.of(arm)] for arm in results.arms}


def planted(results: Results, levels: list[float]) -> tuple[list[Arm], dict[tuple[str, Split], ArmScores]]:
    """Arms whose mean NLL lies at these levels; a thousandth of noise a piece, and seeds that are as far apart."""
    dice = np.random.default_rng(3)
    counts, blocks = np.full(PIECES, 256.0), np.repeat(np.arange(BLOCKS), PIECES // BLOCKS)
    arms = [Arm(name, own, 1e-3) for name, own in list(paths(results).items())[: len(levels)]]
    scored: dict[tuple[str, Split], ArmScores] = {}
    for arm, level in zip(arms, levels, strict=True):
        noise = dice.normal(0, 1e-3, (SEEDS, PIECES))
        sums = counts * (level + noise - noise.mean() + np.array([[-1e-4], [0], [1e-4]]) * (1 + len(scored)))
        scored[arm.name, "test"] = ArmScores({"all": sums}, {"all": counts}, blocks)
    return arms, scored


@pytest.fixture(scope="module")
def tied(crowded: Report) -> Result:
    """Four arms, of which the second and the third are equals."""
    return judge_scores(*planted(crowded.results, [1.31, 1.30, 1.30, 1.29]))


def test_a_pair_is_judged_as_if_one_of_it_were_the_reference(crowded: Report) -> None:
    arms, scored = planted(crowded.results, [1.31, 1.30, 1.2995, 1.29])
    found = judge_scores(arms, scored)["pairs"]
    assert [(pair["arm"], pair["against"]) for pair in found] == [
        (one.name, other.name) for one, other in combinations(arms[1:], 2)
    ]
    for one, other in combinations(arms[1:], 2):
        turned = judge_scores([other, one], scored)["arms"][1]["splits"]["test"]["all"]["difference"]
        pair = next(pair for pair in found if (pair["arm"], pair["against"]) == (one.name, other.name))
        assert {key: pair[key] for key in turned} == turned


def test_the_matrix_holds_every_pair_once_the_best_first(tied: Result) -> None:
    found = pairs_of_comparison(tied)
    assert found is not None and len(found.between) == 6
    nlls = {arm["name"]: arm["splits"]["test"]["all"]["value"] for arm in tied["arms"]}
    assert list(found.names) == sorted(nlls, key=lambda name: float(nlls[name]))
    table = tabulate(found)
    assert table.title == "Which differ from each other: 5 of 6 pairs"
    known = {
        (row.head, column.head): cell
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.value is not None
    }
    assert set(known) == set(combinations(found.names, 2))
    for (one, other), cell in known.items():
        assert cell.value == pytest.approx(nlls[one] - nlls[other], abs=1e-9)
        assert cell.low is not None and cell.high is not None and isinstance(cell.value, float)
        assert cell.low <= cell.value <= cell.high
        assert cell.under.endswith("better" if cell.high < 0 else "not distinguishable")
    equals = [arm["name"] for arm in tied["arms"][1:3]]
    assert [set(pair) for pair in found.undecided] == [set(equals)]
    assert sentence(found).startswith("Among each other: 5 of 6 pairs differ; not shown to differ is")
    assert all(name in sentence(found) for name in equals)


def test_what_was_not_judged_is_not_shown(tied: Result) -> None:
    two = {**tied, "arms": tied["arms"][:2], "pairs": []}
    assert pairs_of_comparison(two) is None, "two arms have one difference, which the figure shows"
    assert pairs_of_comparison({key: value for key, value in tied.items() if key != "pairs"}) is None


def test_too_few_seeds_say_so_once(crowded: Report) -> None:
    arms, scored = planted(crowded.results, [1.31, 1.30, 1.29])
    few = {key: ArmScores({"all": found.sums["all"][:2]}, found.counts, found.blocks) for key, found in scored.items()}
    found = pairs_of_comparison(judge_scores([replace(arm, runs=arm.runs[:2]) for arm in arms], few))
    assert found is not None and sentence(found) == "Among each other: too few seeds to say which arms differ."


def test_it_stands_folded_below_the_hero_figure(crowded: Report) -> None:
    html = crowded.html()
    first = html.split('class="first"')[1].split("</section>")[0]
    assert first.count("<details") >= 1 and 'id="table-pairs"' in first and html.count('id="table-pairs"') == 1
    assert crowded.matrix is not None and f"### {crowded.matrix.title}" in crowded.markdown()
    assert "pairs" in crowded.as_dict()["tables"]


def test_runs_that_no_comparison_judged_are_paired_by_their_blocks(tmp_path: Path) -> None:
    levels = {"rope": 1.312, "goat": 1.305, "alibi": 1.299}
    runs = [example.run(tmp_path / arm, example.config(arm), level) for arm, level in levels.items()]
    results = Results(read_runs(runs))
    found, against = find_pairs(results), differences(results)
    assert found is not None and list(found.names) == ["alibi", "goat", "rope"]
    for run in results.scored[1:]:
        pair, paired = found.between[run.arm, "rope"], against[run.key]
        assert pair.value == pytest.approx(paired.value, abs=1e-12)
        assert (pair.low is not None and pair.low < 0) == (paired.bounds[0] < 0)
    assert "nothing of the methods" in tabulate(found).notes[0]
    assert report(Results(read_runs(runs[:2])), "dnagoat report").matrix is None
