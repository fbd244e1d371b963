"""The first screen of a terminal: the numbers of each model, and no column for what nobody has measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dnagoat.reporting.sections.baselines import best_baseline
from dnagoat.reporting.sections.glance import glance
from dnagoat.reporting.sources import Results, read
from dnagoat.reporting.table import Table
from tests.reporting import example


def values(table: Table) -> dict[str, dict[str, object]]:
    keys = [column.key for column in table.columns]
    return {row.head: {key: cell.value for key, cell in zip(keys, row.cells, strict=True)} for row in table.rows}


def test_runs_have_their_own_numbers(results: Results) -> None:
    shown = values(glance(results))
    assert list(shown) == [run.arm for run in results.scored]
    for run in results.scored:
        test, own = run.nll("test") or {}, shown[run.arm]
        assert own["nll"] == test["value"] and own["gain"] == (best_baseline(test) or {})["gain"]
        assert own["gc_r"] == run.measures["generation"]["gc"]["pooled"]["r"] and own["speed"] == run.speed
        assert own["memory"] in (run.peak("cuda_allocated_peak"), run.peak("resident_peak"))
    first, second = results.scored[:2]
    difference = (second.nll("test") or {})["value"] - (first.nll("test") or {})["value"]
    assert abs(float(str(shown[second.arm]["difference"])) - difference) < 1e-6


def test_arms_have_the_numbers_of_their_seeds_and_unmeasured_columns_are_left_out(tmp_path: Path) -> None:
    results = read([example.comparison(tmp_path / "compared")])
    assert results.comparison is not None
    bare = replace(results, runs=[replace(run, measures={}) for run in results.runs])
    table = glance(bare)
    assert [column.key for column in table.columns] == ["nll", "difference", "memory", "speed"]
    for arm in results.comparison["arms"]:
        here, own = arm["splits"]["test"]["all"], values(table)[arm["name"]]
        assert own["nll"] == here["value"]
        assert own["difference"] == (here["difference"] and here["difference"]["value"])
    assert {"gain", "gc_r"} <= {column.key for column in glance(results).columns}
