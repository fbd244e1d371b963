"""A comparison's report says what the comparison judged, over all seeds, and draws it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dnagoat.errors import RunError
from dnagoat.reporting.document import Report, report
from dnagoat.reporting.numbers import interval
from dnagoat.reporting.sections.comparison import verdicts
from dnagoat.reporting.sources import read, sources
from tests.reporting import example


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report(read([example.comparison(tmp_path_factory.mktemp("compare"))]), "dnagoat report compare")


def test_its_verdict_is_the_comparison_s(made: Report) -> None:
    comparison = made.results.comparison
    assert comparison is not None and made.verdict.sentence == comparison["verdict"]
    assert made.verdict.headline == "goat beats rope by 0.0070 nats per base."
    assert made.verdict.sentence.startswith("On the test split: goat is better than rope (-0.0070 nats per base")
    assert not any("One training seed" in remark for remark in made.verdict.remarks)


def test_the_table_of_arms_comes_first_with_both_intervals(made: Report) -> None:
    table = made.tables[0]
    assert table.name == "comparison" and [row.head for row in table.rows] == ["rope", "goat"]
    cell = table.rows[1].cells[1]
    comparison = made.results.comparison
    assert comparison is not None
    found = comparison["arms"][1]["splits"]["test"]["all"]["difference"]
    bounds = {
        name: interval(found[key], sign=True) for name, key in (("seeds", "over_seeds"), ("genome", "over_blocks"))
    }
    assert cell.text == "−0.0070" and cell.lines()[1:] == [f"{name} {said}" for name, said in bounds.items()]
    assert (cell.low, cell.high) == tuple(found["over_seeds"])
    assert table.rows[1].cells[2].text == "better"
    assert table.notes[1] == "⚠ goat: only 12 blocks: the interval over the genome is too narrow below 30."


def test_the_rates_that_were_tried_stand_below_the_verdicts(made: Report) -> None:
    comparison = made.results.comparison
    assert comparison is not None
    tried = [{"lr": 1e-3, "val_nll": 1.31}, {"lr": 2e-3, "val_nll": 1.32}]
    tuned = {**comparison, "arms": [{**arm, "tried": tried} for arm in comparison["arms"]]}
    (note,) = (note for note in verdicts(tuned, "test").notes if "Learning rates were tried" in note)
    assert note.endswith("rope 0.001 (1.3100), 0.002 (1.3200); goat 0.001 (1.3100), 0.002 (1.3200).")
    assert not any("Learning rates" in note for note in made.tables[0].notes)


def test_one_seed_never_contradicts_the_verdict(made: Report) -> None:
    detail = next(table for table in made.tables if table.name == "results")
    assert detail.title == "The first seed of each arm, in more detail"
    assert "difference" not in {column.key for column in detail.columns}


def test_it_is_drawn_and_every_seed_has_its_curve(made: Report) -> None:
    figures = {figure.name: figure for figure in made.figures}
    assert "goat: −0.0070" in figures["comparison"].alt and figures["comparison"] is made.hero
    curves = figures["training-curves"].drawing.axes[0].lines
    assert len([line for line in curves if line.get_marker() == "o"]) == 3, "three seeds of rope"
    assert {"strata", "prior-goat-s0"} <= set(figures), "details are of the first seed"


def test_its_runs_are_found_beside_it_wherever_it_was_made(tmp_path: Path) -> None:
    folder = example.comparison(tmp_path / "moved")
    found = sources([folder])
    assert list(found.runs) == [folder / f"{arm}-s{seed}" for arm in ("rope", "goat") for seed in range(3)]
    assert [run.path.name for run in found.open_runs()] == ["rope-s0", "goat-s0"], "only these are measured further"


def test_a_comparison_is_not_mixed_with_other_runs(tmp_path: Path) -> None:
    folder = example.comparison(tmp_path / "compare")
    other = example.run(tmp_path / "other", example.config("alibi"), 1.3)
    with pytest.raises(RunError, match="is a whole comparison; give it a report of its own"):
        sources([folder, other])
